// The lower bound for any order: its values, and what it takes.

#include "core/partition/order_bound.h"

#include <gtest/gtest.h>

#include "core/partition/plan_frontier.h"
#include "tests/support/graphs.h"
#include "tests/support/judged_plan.h"

namespace jointer::test {
namespace {

// The bound is that of the search's samples at the costs without communication. It takes one
// minimum cut for each price that counts, and no plan is evaluated.
TEST(OrderBound, IsThatOfTheSamplesWithoutCommunication) {
  const Judged& judged = judged_sample();
  const Graph& joint = judged.partition.joint;
  const auto make_what_if = [&](std::span<const NodeCost> costs) {
    return std::make_unique<PlanWhatIf>(joint, costs, judged.flops);
  };
  const std::vector<NodeCost> costs = without_communication(joint, judged.costs);
  const auto what_if = make_what_if(costs);
  const std::int64_t peak = judged.what_if->figures(judged.partition.plan)->figures.peak_bytes;
  for (const bool offload : {true, false}) {
    std::size_t asked = 0;
    const OrderBound bound = OrderBound::make(joint, judged.costs, make_what_if,
                                              {.offload = offload,
                                               .go_on =
                                                   [&] {
                                                     ++asked;
                                                     return true;
                                                   }})
                                 .value();
    EXPECT_EQ(asked, PlanRelaxation::kSeries * (offload ? 6 : 1));
    const auto frontier = PlanFrontier::make(joint, *what_if, {.offload = offload}).value();
    ASSERT_TRUE(frontier->find_samples());
    for (const std::int64_t percent : {50, 80, 100, 150}) {
      const std::int64_t bytes = peak * percent / 100;
      EXPECT_GT(bound.bound_ns(bytes), 0);
      EXPECT_EQ(bound.bound_ns(bytes), frontier->bound_ns(bytes)) << percent << " " << offload;
    }
  }
}

// A bucket replaces all of these calls by a few, which also takes the CPU less time.
TEST(OrderBound, LeavesOutAllThatABucketReplaces) {
  const Graph graph = parse(R"(
    kind forward
    group fsdp: 0 1
    w: f32[8,8] = parameter
    v: f32[8,8] = parameter
    x: bf16[8,16] = input
    cast: bf16[8,8] = aten._to_copy(w, dtype=bf16)
    ag: bf16[16,8] = _c10d_functional.all_gather_into_tensor(cast, 2, 'fsdp')
    wt: bf16[16,8] = _c10d_functional.wait_tensor(ag)
    mm: bf16[8,8] = aten.mm(x, wt)
    other: bf16[8,8] = aten._to_copy(v, dtype=bf16)
    add: bf16[8,8] = aten.add.Tensor(mm, other)
    return [add]
  )");
  const std::vector<NodeCost> costs(graph.node_count(), NodeCost{.ns = 5, .host_ns = 3});
  const std::vector<NodeCost> rest = without_communication(graph, costs);
  for (const char* name : {"cast", "ag", "wt"}) {
    EXPECT_EQ(rest[graph.find(name).index()].ns, 0) << name;
    EXPECT_EQ(rest[graph.find(name).index()].host_ns, 0) << name;
  }
  for (const char* name : {"mm", "other", "add"}) {
    EXPECT_EQ(rest[graph.find(name).index()].ns, 5) << name;
    EXPECT_EQ(rest[graph.find(name).index()].host_ns, 3) << name;
  }
}

}  // namespace
}  // namespace jointer::test
