// Differences between lists of kernels that are written by hand.

#include "core/kernels/kernel_differences.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/kernels/lowering.h"
#include "tests/support/graphs.h"
#include "tests/support/processor_time.h"
#include "tests/support/sanitized.h"

namespace jointer::kernels {
namespace {

using Kind = KernelDifference::Kind;
using testing::ElementsAre;

ListedKernel kernel(std::vector<std::size_t> nodes, std::int64_t bytes = 100,
                    Kernel::Kind kind = Kernel::Kind::pointwise) {
  ListedKernel made;
  made.kind = kind;
  made.bytes = bytes;
  for (const std::size_t node : nodes) made.nodes.push_back(NodeId(node));
  return made;
}

KernelList list(std::vector<ListedKernel> kernels) {
  KernelList made;
  made.kernels = std::move(kernels);
  return made;
}

const std::string kDevice(to_sentence(Refusal::other_device));
const std::string kSize(to_sentence(Refusal::pointwise_size));

TEST(KernelDifferences, EqualListsHaveNone) {
  const KernelList both = list({kernel({1, 2}), kernel({3}), kernel({3}), kernel({})});
  const KernelComparison made = compare_kernels(both, both);
  EXPECT_TRUE(made.is_equal());
  EXPECT_EQ(made.equal_kernels, 4);
  EXPECT_EQ(made.nodes, 3);
  EXPECT_EQ(made.nodes_elsewhere, 0);
  EXPECT_EQ(made.first.kernels, 4);
  EXPECT_EQ(made.first.bytes, 400);
}

TEST(KernelDifferences, TheOrderOfNodesInAKernelDoesNotMatter) {
  EXPECT_TRUE(compare_kernels(list({kernel({1, 2})}), list({kernel({2, 1, 1})})).is_equal());
}

TEST(KernelDifferences, ASplitKernelBelongsToTheReasonOfTheListThatSplits) {
  const KernelList first = list({kernel({1, 2, 3}), kernel({4})});
  KernelList second = list({kernel({1}), kernel({2, 3}), kernel({4})});
  second.refused = {{0, 1, kSize}, {1, 2, kDevice}};  // the second pair is equal in both
  const KernelComparison made = compare_kernels(first, second);
  ASSERT_EQ(made.rules.size(), 1U);
  EXPECT_EQ(made.rules[0].kind, Kind::split);
  EXPECT_EQ(made.rules[0].refused_by, ListSide::second);
  EXPECT_EQ(made.rules[0].reason, kSize);
  EXPECT_EQ(made.rules[0].count, 1);
  EXPECT_EQ(made.rules[0].first_bytes, 100);
  EXPECT_EQ(made.rules[0].second_bytes, 200);
  ASSERT_EQ(made.differences.size(), 1U);
  EXPECT_THAT(made.differences[0].first, ElementsAre(0));
  EXPECT_THAT(made.differences[0].second, ElementsAre(0, 1));
  EXPECT_THAT(made.differences[0].nodes, ElementsAre(NodeId(1), NodeId(2), NodeId(3)));
  EXPECT_EQ(made.nodes, 4);
  EXPECT_EQ(made.nodes_elsewhere, 3);
  EXPECT_EQ(to_text(made.rules[0], "the prediction", "Inductor"),
            "one kernel of the prediction is several of Inductor; not fused by Inductor: " + kSize);
}

TEST(KernelDifferences, MergedKernelsBelongToTheReasonOfTheListThatSeparates) {
  KernelList first = list({kernel({1}), kernel({2})});
  first.refused = {{1, 0, kDevice}};
  const KernelComparison made = compare_kernels(first, list({kernel({1, 2})}));
  ASSERT_EQ(made.rules.size(), 1U);
  EXPECT_EQ(made.rules[0].kind, Kind::merged);
  EXPECT_EQ(made.rules[0].refused_by, ListSide::first);
  EXPECT_EQ(made.rules[0].reason, kDevice);
}

TEST(KernelDifferences, RulesCountTheirDifferencesAndTheMostFrequentIsFirst) {
  KernelList first = list({kernel({1, 2}), kernel({3}), kernel({4, 5}), kernel({6, 7})});
  KernelList second = list(
      {kernel({1}), kernel({2}), kernel({4}), kernel({5}), kernel({6}), kernel({7}), kernel({8})});
  second.refused = {{0, 1, kSize}, {2, 3, kDevice}, {4, 5, kDevice}};
  const KernelComparison made = compare_kernels(first, second);
  ASSERT_EQ(made.rules.size(), 4U);
  EXPECT_EQ(made.rules[0].reason, kDevice);
  EXPECT_EQ(made.rules[0].count, 2);
  EXPECT_EQ(made.rules[1].reason, kSize);
  EXPECT_EQ(made.rules[2].kind, Kind::only_first);
  EXPECT_EQ(made.rules[3].kind, Kind::only_second);
  std::int64_t count = 0;
  for (const KernelDifference& each : made.differences)
    EXPECT_EQ(each.kind, made.rules[each.rule].kind);
  for (const DifferenceRule& rule : made.rules) count += rule.count;
  EXPECT_EQ(count, static_cast<std::int64_t>(made.differences.size()));
}

TEST(KernelDifferences, NodesInOtherKernels) {
  const KernelComparison made = compare_kernels(list({kernel({1, 2}), kernel({3, 4})}),
                                                list({kernel({1, 3}), kernel({2, 4})}));
  ASSERT_EQ(made.differences.size(), 1U);
  EXPECT_EQ(made.differences[0].kind, Kind::regrouped);
  EXPECT_EQ(made.rules[0].refused_by, ListSide::neither);
  EXPECT_EQ(made.nodes_elsewhere, 4);
}

// Node 9 is cheap: all kernels compute it. It does not make one difference of two.
TEST(KernelDifferences, ANodeThatManyKernelsComputeDoesNotLinkThem) {
  const KernelComparison made =
      compare_kernels(list({kernel({1, 2, 9}), kernel({3, 4, 9})}),
                      list({kernel({1, 9}), kernel({2}), kernel({3, 9}), kernel({4})}));
  ASSERT_EQ(made.differences.size(), 2U);
  for (const KernelDifference& each : made.differences) EXPECT_EQ(each.kind, Kind::split);
}

TEST(KernelDifferences, AKernelOfSharedNodesBelongsToTheOneThatItSharesMostWith) {
  const KernelComparison made =
      compare_kernels(list({kernel({1, 8, 9}), kernel({2, 9})}),
                      list({kernel({1}), kernel({8, 9}), kernel({2, 9})}));
  ASSERT_EQ(made.differences.size(), 1U);
  EXPECT_EQ(made.differences[0].kind, Kind::split);
  EXPECT_THAT(made.differences[0].first, ElementsAre(0));
}

TEST(KernelDifferences, EqualKernelsMayDifferInKindBytesAndOrder) {
  const KernelComparison made =
      compare_kernels(list({kernel({1}), kernel({2}), kernel({3}), kernel({4}), kernel({5})}),
                      list({kernel({5}), kernel({1}, 7), kernel({2}, 100, Kernel::Kind::reduction),
                            kernel({3}), kernel({4})}));
  EXPECT_EQ(made.equal_kernels, 5);
  EXPECT_EQ(made.nodes_elsewhere, 0);
  ASSERT_EQ(made.differences.size(), 3U);
  std::vector<Kind> kinds;
  for (const KernelDifference& each : made.differences) {
    kinds.push_back(each.kind);
    if (each.kind == Kind::order) {
      EXPECT_THAT(each.nodes, ElementsAre(NodeId(5))) << "the others keep their order";
    }
    if (each.kind == Kind::other_bytes) {
      EXPECT_EQ(each.first_bytes, 100);
      EXPECT_EQ(each.second_bytes, 7);
    }
  }
  EXPECT_THAT(kinds,
              testing::UnorderedElementsAre(Kind::order, Kind::other_bytes, Kind::other_kind));
}

TEST(KernelDifferences, OnlyThePeakDiffers) {
  KernelList first = list({kernel({1})}), second = first;
  second.peak = 5;
  const KernelComparison made = compare_kernels(first, second);
  EXPECT_TRUE(made.differences.empty());
  EXPECT_FALSE(made.is_equal());
}

// Kernels of Inductor's own passes have no nodes of the graph.
TEST(KernelDifferences, KernelsWithUnknownNodesAreThoseOfTheSameKindAndBytes) {
  const KernelComparison same =
      compare_kernels(list({kernel({1}), kernel({2}, 30)}), list({kernel({1}), kernel({}, 30)}));
  EXPECT_TRUE(same.differences.empty());
  const KernelComparison other =
      compare_kernels(list({kernel({1}), kernel({2}, 30)}), list({kernel({1}), kernel({}, 40)}));
  EXPECT_EQ(other.differences.size(), 2U);
}

TEST(KernelDifferences, KernelsWithUnknownNodesArePairedInOrder) {
  // The nodes of a kernel in the middle are known, but are not those of the other one.
  const KernelComparison made = compare_kernels(list({kernel({}), kernel({1}), kernel({})}),
                                                list({kernel({}), kernel({2}), kernel({})}));
  EXPECT_EQ(made.equal_kernels, 3);
  const KernelComparison known =
      compare_kernels(list({kernel({1}), kernel({2})}), list({kernel({3}), kernel({})}));
  EXPECT_EQ(known.equal_kernels, 1);
  ASSERT_EQ(known.differences.size(), 2U);
  EXPECT_THAT(known.differences[0].first, ElementsAre(1));
  EXPECT_THAT(known.differences[1].second, ElementsAre(0));
}

TEST(KernelDifferences, ManyKernelsWithUnknownNodesArePairedQuickly) {
  constexpr std::int64_t kCount = 20'000;
  std::vector<ListedKernel> first, second;
  for (std::int64_t i = 0; i < kCount; ++i) {
    first.push_back(kernel({}, i));
    second.push_back(kernel({}, kCount - 1 - i));
  }
  const KernelList one = list(std::move(first)), other = list(std::move(second));
  const double before = test::processor_ms();
  EXPECT_EQ(compare_kernels(one, other).equal_kernels, kCount);
  [[maybe_unused]] const double took = test::processor_ms() - before;
#if defined(NDEBUG) && !JOINTER_IS_SANITIZED
  EXPECT_LT(took, 500) << "looking at all pairs takes seconds";
#endif
}

TEST(KernelDifferences, ViewsAndResultsAreLeftOut) {
  const KernelComparison made =
      compare_kernels(list({kernel({1}), kernel({2}, 0, Kernel::Kind::view)}),
                      list({kernel({3}, 0, Kernel::Kind::multi_output), kernel({1})}));
  EXPECT_TRUE(made.is_equal());
  EXPECT_EQ(made.nodes, 1);
}

TEST(KernelList, ReasonsOfInductorAreThoseOfOurRules) {
  EXPECT_EQ(rule_of_reason("no shared data due to indexing mismatch"),
            to_sentence(Refusal::no_shared_data));
  EXPECT_EQ(rule_of_reason("numel/rnumel mismatch (non-reduce) (8, 4), (1, 1)"),
            to_sentence(Refusal::pointwise_size));
  EXPECT_EQ(rule_of_reason("numel/rnumel mismatch (reduce) (8, 4), (1, 1)"),
            to_sentence(Refusal::reduction_size));
  EXPECT_EQ(rule_of_reason("tiling mismatch ({'x': 8}, {'y': 4})"),
            to_sentence(Refusal::tiles_differ));
  EXPECT_EQ(rule_of_reason("candidate producer is a reduction, foreach ops cannot be fused"),
            to_sentence(Refusal::parts_differ));
  EXPECT_EQ(rule_of_reason("template epilogue not satisfied"),
            to_sentence(Refusal::beside_template));
  EXPECT_EQ(rule_of_reason("sub-parent epilogue planning failed"),
            to_sentence(Refusal::computes_fraction));
  EXPECT_EQ(rule_of_reason("a new reason (8, 4)"), "a new reason");
}

// Views have no kernel in one list and one in the other, so they are not compared.
TEST(KernelList, OfAPredictionHasTheComputingNodesAndItsReasons) {
  const Graph graph = test::parse(R"(
    x: f32[64,64] = input
    y: f32[64,64] = input
    a: f32[64,64] = aten.mul.Tensor(x, y)
    t: f32[4096] = aten.view(a, [4096])
    b: f32[4096] = aten.exp(t)
    c: f32[64,64] = aten.mm(a, y)
    return [b, c]
  )");
  const Kernels predicted = schedule(lower(graph, kNewestTorch));
  const KernelList made = list_of(graph, predicted);
  ASSERT_EQ(made.kernels.size(), predicted.kernels.size());
  EXPECT_EQ(made.peak, predicted.peak);
  bool has_both = false;
  for (const ListedKernel& each : made.kernels) {
    EXPECT_THAT(each.nodes, testing::Not(testing::Contains(graph.find("t"))));
    has_both = has_both || (each.nodes == std::vector{graph.find("a"), graph.find("b")});
  }
  EXPECT_TRUE(has_both) << "the element-wise operators are one kernel";
  for (const ListedRefusal& each : made.refused) {
    EXPECT_NE(each.first, each.second);
    EXPECT_LT(as_index(each.first), made.kernels.size());
    EXPECT_FALSE(each.reason.empty());
  }
  EXPECT_TRUE(compare_kernels(made, made).is_equal());
}

}  // namespace
}  // namespace jointer::kernels
