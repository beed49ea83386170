#include "core/partition/order_bound.h"

#include <utility>

#include "core/partition/hidden_shares.h"

namespace jointer {

Result<OrderBound> OrderBound::make(
    const Graph& joint, std::span<const NodeCost> costs,
    const std::function<std::unique_ptr<PlanWhatIf>(std::span<const NodeCost>)>& make_what_if,
    PlanFrontier::Options options) {
  OrderBound bound;
  bound.costs_ = std::make_unique<const std::vector<NodeCost>>(
      with_hidden_communication(joint, costs, HiddenShares(1)));
  bound.what_if_ = make_what_if(*bound.costs_);
  JOINTER_TRY(bound.frontier_, PlanFrontier::make(joint, *bound.what_if_, std::move(options)));
  JOINTER_CHECK(bound.frontier_->find_samples());
  return bound;
}

}  // namespace jointer
