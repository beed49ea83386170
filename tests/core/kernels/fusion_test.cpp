// Rules of torch._inductor.scheduler on graphs of a few ops.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/kernels/kernels.h"
#include "tests/support/small_ir.h"

namespace jointer::test {
namespace {

using kernels::BufferId;
using kernels::Kernel;
using kernels::Kernels;
using kernels::OpId;
using kernels::Refusal;
using testing::ElementsAre;

std::vector<std::vector<OpId>> groups(const Kernels& result) {
  std::vector<std::vector<OpId>> found;
  for (const Kernel& kernel : result.kernels) found.push_back(kernel.ops);
  return found;
}

bool is_refused(const Kernels& result, OpId first, OpId second, Refusal refusal) {
  return std::any_of(result.refused.begin(), result.refused.end(), [&](const auto& pair) {
    return pair.first == first && pair.second == second && pair.refusal == refusal;
  });
}

TEST(Fusion, ProducerAndConsumerAreOneKernel) {
  SmallIr small;
  const BufferId x = small.input({64, 32});
  const BufferId a = small.pointwise({64, 32}, {{x, {32, 1}}});
  const BufferId b = small.pointwise({64, 32}, {{a, {32, 1}}});
  small.output(b);
  const Kernels result = schedule(small.ir);
  EXPECT_THAT(groups(result), ElementsAre(ElementsAre(0, 1)));
  // The buffer between them never leaves the kernel.
  EXPECT_EQ(result.kernels[0].bytes_read, 64 * 32 * 4);
  EXPECT_EQ(result.kernels[0].bytes_written, 64 * 32 * 4);
}

TEST(KernelBytes, ACallWithAGeneratorHasNone) {
  SmallIr small;
  const BufferId x = small.input({64, 64});
  small.output(small.external({64, 64}, {x}));
  EXPECT_EQ(schedule(small.ir).kernels[0].bytes, 2 * 64 * 64 * 4);
  small.ir.ops.back().target = "graphsafe_run_with_rng_state";
  EXPECT_EQ(schedule(small.ir).kernels[0].bytes, 0);
}

TEST(Fusion, TwoReadersOfTheSameDataAreOneKernel) {
  SmallIr small;
  const BufferId x = small.input({64, 32});
  small.output(small.pointwise({64, 32}, {{x, {32, 1}}}));
  small.output(small.pointwise({64, 32}, {{x, {32, 1}}}));
  EXPECT_THAT(groups(schedule(small.ir)), ElementsAre(ElementsAre(0, 1)));
}

TEST(Fusion, NothingIsFusedWithALibrary) {
  SmallIr small;
  const BufferId x = small.input({64, 64});
  const BufferId a = small.pointwise({64, 64}, {{x, {64, 1}}});
  const BufferId b = small.external({64, 64}, {a});
  small.output(small.pointwise({64, 64}, {{b, {64, 1}}}));
  EXPECT_THAT(groups(schedule(small.ir)),
              ElementsAre(ElementsAre(0), ElementsAre(1), ElementsAre(2)));
}

TEST(Fusion, WhatLiesBetweenKeepsThemApart) {
  SmallIr small;
  const BufferId x = small.input({64, 64});
  const BufferId a = small.pointwise({64, 64}, {{x, {64, 1}}});
  const BufferId b = small.external({64, 64}, {a});
  small.output(small.pointwise({64, 64}, {{a, {64, 1}}, {b, {64, 1}}}));
  const Kernels result = schedule(small.ir);
  EXPECT_EQ(result.kernels.size(), 3U);
  EXPECT_TRUE(is_refused(result, 0, 2, Refusal::op_between));
}

TEST(Fusion, DeadOpsAreRemoved) {
  SmallIr small;
  const BufferId x = small.input({64});
  const BufferId dead = small.pointwise({64}, {{x, {1}}});
  small.pointwise({64}, {{dead, {1}}});
  small.output(small.pointwise({64}, {{x, {1}}}));
  const Kernels result = schedule(small.ir);
  EXPECT_THAT(groups(result), ElementsAre(ElementsAre(2)));
  EXPECT_THAT(result.kernel_of, ElementsAre(-1, -1, 0));
}

TEST(Fusion, AReductionAndWhatFollowsAreOneKernel) {
  SmallIr small;
  const BufferId x = small.input({64, 32});
  const BufferId mean = small.sum({64}, {32}, {{x, {32, 1}}});
  small.output(small.pointwise({64, 32}, {{x, {32, 1}}, {mean, {1, 0}}}));
  const Kernels result = schedule(small.ir);
  EXPECT_THAT(groups(result), ElementsAre(ElementsAre(0, 1)));
  EXPECT_EQ(result.kernels[0].kind, Kernel::Kind::reduction);
  EXPECT_EQ(result.kernels[0].numel, 64);
  EXPECT_EQ(result.kernels[0].rnumel, 32);
}

TEST(Fusion, SizesMustMatch) {
  SmallIr small;
  const BufferId x = small.input({64});
  const BufferId a = small.pointwise({64}, {{x, {1}}});
  small.output(a);
  small.output(small.pointwise({64, 8}, {{a, {1, 0}}}));
  const Kernels result = schedule(small.ir);
  EXPECT_EQ(result.kernels.size(), 2U);
  EXPECT_TRUE(is_refused(result, 0, 1, Refusal::pointwise_size));
}

TEST(Fusion, LoopsAreReorderedInTheEnd) {
  SmallIr small;
  const BufferId x = small.input({64, 32});
  const BufferId a = small.pointwise({64, 32}, {{x, {32, 1}}});
  small.output(a);
  // Reads a column by column: its loops in the other order read row by row.
  small.output(small.pointwise({32, 64}, {{a, {1, 32}}}));
  EXPECT_THAT(groups(schedule(small.ir)), ElementsAre(ElementsAre(0, 1)));
}

TEST(Fusion, DistantReadersStayApart) {
  SmallIr small;
  const BufferId x = small.input({64});
  const BufferId first = small.pointwise({64}, {{x, {1}}});
  BufferId last = small.external({64}, {first});
  for (int i = 0; i < 70; ++i) last = small.external({64}, {last});
  small.output(small.pointwise({64}, {{x, {1}}, {last, {1}}}));
  small.output(small.pointwise({64}, {{x, {1}}}));
  const Kernels result = schedule(small.ir);
  // The third reader depends on nothing and is as far from the first in the order.
  EXPECT_TRUE(is_refused(result, 0, 73, Refusal::too_far_apart));
}

TEST(Fusion, NoMoreThanSixtyFourOpsAreOneKernel) {
  SmallIr small;
  BufferId last = small.input({64});
  for (int i = 0; i < 100; ++i) last = small.pointwise({64}, {{last, {1}}});
  small.output(last);
  const Kernels result = schedule(small.ir);
  for (const Kernel& kernel : result.kernels) EXPECT_LE(kernel.ops.size(), 64U);
  EXPECT_EQ(result.kernels.size(), 2U);
}

// Sums over the rows and over the columns of the same matrix.
Kernels sums(std::int64_t rows, std::int64_t columns, TorchVersion torch) {
  SmallIr small;
  const BufferId x = small.input({rows, columns});
  small.output(small.sum({rows}, {columns}, {{x, {columns, 1}}}));
  small.output(small.sum({columns}, {rows}, {{x, {1, columns}}}));
  return schedule(small.ir, torch);
}

TEST(Fusion, SumsOverRowsAndColumnsAreOneKernelIfTheyAreLarge) {
  const Kernels large = sums(8192, 2048, {2, 15});
  ASSERT_EQ(large.kernels.size(), 1U);
  EXPECT_EQ(large.kernels[0].kind, Kernel::Kind::mix_order_reduction);
  EXPECT_EQ(sums(4096, 1024, {2, 15}).kernels.size(), 2U);  // less than 5 Mi elements
  EXPECT_EQ(sums(2048, 8192, {2, 15}).kernels.size(), 2U);  // less than 4096 rows
}

TEST(Fusion, Torch211NeedsTwiceAsManyRowsAsColumns) {
  EXPECT_EQ(sums(4096, 4096 + 64, {2, 15}).kernels.size(), 1U);
  EXPECT_EQ(sums(4096, 4096 + 64, {2, 11}).kernels.size(), 2U);
}

TEST(MemoryOrder, PeakOfAChain) {
  SmallIr small;
  const BufferId x = small.input({1024}, false);
  const BufferId a = small.external({1024}, {x});
  const BufferId b = small.external({256}, {a});
  small.output(small.external({256}, {b}));
  const Kernels result = schedule(small.ir);
  EXPECT_EQ(result.peak, 4096 + 1024);  // a and b
  EXPECT_THAT(result.after_allocation, ElementsAre(4096, 5120, 2048));
  EXPECT_THAT(result.after_release, ElementsAre(4096, 1024, 1024));
}

TEST(MemoryOrder, InputsThatMayBeFreedCount) {
  SmallIr small;
  const BufferId x = small.input({1024});
  const BufferId a = small.external({1024}, {x});
  small.output(small.external({256}, {a}));
  const Kernels result = schedule(small.ir);
  EXPECT_THAT(result.after_allocation, ElementsAre(8192, 5120));
  EXPECT_THAT(result.after_release, ElementsAre(4096, 1024));
}

TEST(MemoryOrder, AnOrderWithALowerPeakWins) {
  SmallIr small;
  const BufferId x = small.input({16}, false);
  // Two large values, each of which is needed for a small one only. As lowered, both are alive at
  // once.
  const BufferId a = small.external({4096}, {x});
  const BufferId b = small.external({4096}, {x});
  const BufferId c = small.external({16}, {a});
  const BufferId d = small.external({16}, {b});
  small.output(small.external({16}, {c, d}));
  const Kernels result = schedule(small.ir);
  EXPECT_EQ(result.fused_peak, 2 * 16384 + 64);
  EXPECT_EQ(result.peak, 16384 + 64 + 64);
  EXPECT_NE(result.order, kernels::MemoryOrder::as_fused);
}

// A buffer that a call changed in place has another name afterwards, but not in the ops' code,
// where Inductor looks for the pattern of the reads. In a square matrix, only that pattern tells
// rows and columns apart.
TEST(Fusion, SumsOfABufferThatWasChangedInPlaceStayApart) {
  for (const bool is_changed : {false, true}) {
    SmallIr small;
    const SmallIr::Sizes shape{4096, 4096};
    const BufferId x = small.external(shape, {small.input(shape)});
    const BufferId y = small.external(shape, {x});
    if (is_changed) small.ir.buffers[static_cast<std::size_t>(y)].mutates = {x};
    small.output(small.sum({4096}, {4096}, {{y, {4096, 1}}}));
    small.output(small.sum({4096}, {4096}, {{y, {1, 4096}}}));
    EXPECT_EQ(schedule(small.ir).kernels.size(), is_changed ? 4U : 3U);
  }
}

TEST(SimpleOverlap, CollectivesMoveEarlierAndWaitsLater) {
  SmallIr small;
  const BufferId x = small.input({16}, false);
  const BufferId a = small.external({1024}, {x});
  const BufferId b = small.external({1024}, {x});
  const BufferId gathered = small.external({1024}, {a}, kernels::Op::Kind::collective);
  const BufferId waited = small.external({1024}, {gathered}, kernels::Op::Kind::wait);
  const BufferId c = small.external({1024}, {b});
  small.output(small.external({16}, {waited, c}));
  const Kernels result = schedule(small.ir);
  const std::vector<std::int32_t>& at = result.kernel_of;
  EXPECT_LT(at[2], at[1]);  // the collective before what it does not need
  EXPECT_GT(at[3], at[4]);  // the wait after what does not need it
  EXPECT_LE(result.peak, result.fused_peak);
}

TEST(Fusion, EveryReasonIsASentence) {
  for (std::size_t i = 0; i < kernels::kRefusalCount; ++i) {
    const std::string_view text = to_sentence(static_cast<Refusal>(i));
    ASSERT_FALSE(text.empty());
    EXPECT_EQ(text.back(), '.');
  }
}

}  // namespace
}  // namespace jointer::test
