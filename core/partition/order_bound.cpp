#include "core/partition/order_bound.h"

#include <utility>

#include "core/base/checked.h"

namespace jointer {

std::vector<NodeCost> with_hidden_communication(std::span<const NodeCost> costs, double share) {
  std::vector<NodeCost> rest(costs.begin(), costs.end());
  for (NodeCost& cost : rest)
    if (cost.lane == NodeCost::Lane::collective)
      cost.ns = saturating_whole(static_cast<double>(cost.ns) * (1 - share));
  return rest;
}

Result<OrderBound> OrderBound::make(
    const Graph& joint, std::span<const NodeCost> costs,
    const std::function<std::unique_ptr<PlanWhatIf>(std::span<const NodeCost>)>& make_what_if,
    PlanFrontier::Options options) {
  OrderBound bound;
  bound.costs_ = std::make_unique<const std::vector<NodeCost>>(with_hidden_communication(costs, 1));
  bound.what_if_ = make_what_if(*bound.costs_);
  JOINTER_TRY(bound.frontier_, PlanFrontier::make(joint, *bound.what_if_, std::move(options)));
  JOINTER_CHECK(bound.frontier_->find_samples());
  return bound;
}

}  // namespace jointer
