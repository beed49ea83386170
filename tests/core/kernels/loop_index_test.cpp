#include "core/kernels/loop_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/small_ir.h"

namespace jointer::test {
namespace {

using kernels::Index;
using kernels::IndexTerm;
using kernels::NestedIndex;
using testing::ElementsAre;

TEST(LoopIndex, ContiguousLoopsMerge) {
  const NestedIndex merged =
      kernels::merge_loops(SmallIr::strided({32, 1}), SmallIr::Sizes{64, 32});
  EXPECT_EQ(merged.index, SmallIr::strided({1}));
  EXPECT_THAT(merged.sizes, ElementsAre(2048));
}

TEST(LoopIndex, LoopsThatLeaveAGapDoNotMerge) {
  const NestedIndex merged =
      kernels::merge_loops(SmallIr::strided({40, 1}), SmallIr::Sizes{64, 32});
  EXPECT_EQ(merged.index, SmallIr::strided({40, 1}));
  EXPECT_THAT(merged.sizes, ElementsAre(64, 32));
}

TEST(LoopIndex, LoopsMergeInOrderOnly) {
  const SmallIr::Sizes sizes{32, 64};
  EXPECT_THAT(kernels::merge_loops(SmallIr::strided({1, 32}), sizes).sizes, ElementsAre(32, 64));
  EXPECT_THAT(kernels::merge_sorted_loops(SmallIr::strided({1, 32}), sizes).sizes,
              ElementsAre(2048));
}

TEST(LoopIndex, LoopsOfABroadcastMerge) {
  const NestedIndex merged =
      kernels::merge_loops(SmallIr::strided({0, 0, 1}), SmallIr::Sizes{4, 8, 32});
  EXPECT_EQ(merged.index, SmallIr::strided({0, 1}));
  EXPECT_THAT(merged.sizes, ElementsAre(32, 32));
}

TEST(LoopIndex, UnusedLoopsAtTheEndAreDropped) {
  const NestedIndex merged = kernels::merge_loops(SmallIr::strided({1, 0}), SmallIr::Sizes{64, 32});
  EXPECT_THAT(merged.sizes, ElementsAre(64));
}

TEST(LoopIndex, OrderThatMatchesAnother) {
  const NestedIndex own{SmallIr::strided({1, 32}), {32, 64}};
  const NestedIndex other{SmallIr::strided({32, 1}), {64, 32}};
  const auto order = kernels::matching_order(own, other);
  ASSERT_TRUE(order);
  EXPECT_THAT(*order, ElementsAre(1, 0));
  EXPECT_EQ(kernels::reorder_loops(own.index, *order), other.index);
  const NestedIndex broadcast{SmallIr::strided({0, 1}), {64, 32}};
  EXPECT_FALSE(kernels::matching_order(own, broadcast));
}

TEST(LoopIndex, LoopsAreRegroupedForAReduction) {
  const SmallIr::Sizes sizes{4, 16, 8};
  // All loops advance together.
  EXPECT_EQ(kernels::regroup_loops(SmallIr::strided({128, 8, 1}), sizes, 64, 8),
            SmallIr::strided({8, 1}));
  // One loop is divided.
  EXPECT_EQ(kernels::regroup_loops(SmallIr::strided({1}), SmallIr::Sizes{512}, 64, 8),
            SmallIr::strided({8, 1}));
  // The second loop is outermost in memory: rows 0 to 63 are at row / 16 + 4 * (row % 16).
  const auto crossed = kernels::regroup_loops(SmallIr::strided({8, 32, 1}), sizes, 64, 8);
  ASSERT_TRUE(crossed);
  EXPECT_EQ(kernels::strides_of(*crossed, 2), (SmallIr::Sizes{32, 1}));
  EXPECT_EQ(kernels::stride_of(*crossed, 0), 32);
  EXPECT_EQ(kernels::stride_of(*crossed, 1), 1);
  EXPECT_EQ(crossed->terms.size(), 3U);
  EXPECT_FALSE(kernels::regroup_loops(SmallIr::strided({1}), SmallIr::Sizes{512}, 96, 5));
}

TEST(LoopIndex, SizesSplitIntoThoseOfAReduction) {
  const auto splits = [](SmallIr::Sizes sizes) { return kernels::split_into(sizes, 64, 32); };
  EXPECT_TRUE(splits({64, 32}));
  EXPECT_TRUE(splits({4, 16, 32}));
  EXPECT_TRUE(splits({2048}));
  EXPECT_TRUE(splits({4, 512}));
  EXPECT_TRUE(splits({32, 64}));  // rows are 32 * 2
  EXPECT_FALSE(splits({96, 32}));
  EXPECT_FALSE(splits({64}));
}

TEST(LoopIndex, LoopsMergeOnlyIfTheyDoInAllPositions) {
  const Index dense{{{{{0, 1}}, 0, 1, 0, 16}, {{{1, 1}}, 0, 1, 0, 1}}, 0};
  const Index bias{{{{{1, 1}}, 0, 1, 0, 1}}, 0};
  const std::vector<std::size_t> loops{0, 1};
  const std::vector<std::int64_t> sizes{8, 16};
  EXPECT_EQ(merge_together(std::vector<Index>{dense}, loops, sizes),
            (std::vector<std::int64_t>{0, 128}));
  EXPECT_EQ(merge_together(std::vector<Index>{dense, bias}, loops, sizes), sizes);
}

TEST(LoopIndex, AQuotientIsRegroupedWhereItsDivisorFits) {
  // 32 * d0 + d1 / 2 in loops of 4, 64 and 1024 is the outer loop of 128 and 2048.
  const Index index{{{{{0, 1}}, 0, 1, 0, 32}, {{{1, 1}}, 0, 2, 0, 1}}, 0};
  const auto regrouped = regroup_loops(index, std::vector<std::int64_t>{4, 64, 1024}, 128, 2048);
  ASSERT_TRUE(regrouped.has_value());
  EXPECT_EQ(*regrouped, (Index{{{{{0, 1}}, 0, 1, 0, 1}}, 0}));
}

}  // namespace
}  // namespace jointer::test
