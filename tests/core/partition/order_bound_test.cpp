// The lower bound for any order: its values, and what it takes.

#include "core/partition/order_bound.h"

#include <gtest/gtest.h>

#include "core/partition/hidden_shares.h"
#include "core/partition/plan_frontier.h"
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
  const std::vector<NodeCost> costs =
      with_hidden_communication(joint, judged.costs, HiddenShares(1));
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

}  // namespace
}  // namespace jointer::test
