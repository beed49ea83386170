#include "core/partition/order_bound.h"

#include <mutex>
#include <utility>

#include "core/base/parallel.h"
#include "core/partition/hidden_shares.h"

namespace jointer {

Result<OrderBound> OrderBound::make(
    const Graph& joint, std::span<const NodeCost> costs,
    const std::function<std::unique_ptr<PlanWhatIf>(std::span<const NodeCost>)>& make_what_if,
    const Options& options) {
  OrderBound bound;
  bound.costs_ = std::make_unique<const std::vector<NodeCost>>(
      with_hidden_communication(joint, costs, HiddenShares(1)));
  bound.what_if_ = make_what_if(*bound.costs_);
  JOINTER_TRY(bound.relaxation_, PlanRelaxation::make(*bound.what_if_, options.policies));
  std::vector<PlanPrices> prices = bound.relaxation_->series(options.offload);
  std::erase_if(prices, [&](const PlanPrices& each) {
    return !PlanRelaxation::bounds(each, options.offload);
  });
  std::mutex mutex;
  bool is_over = false;
  const auto goes_on = [&] {
    const std::lock_guard lock(mutex);
    is_over = is_over || (options.go_on && !options.go_on());
    return !is_over;
  };
  std::vector<std::optional<Result<PlanRelaxation::Solution>>> solutions(prices.size());
  (void)first_true(prices.size(), [&](std::size_t i) {
    if (!goes_on()) return true;
    solutions[i] = bound.relaxation_->solve(prices[i]);
    return !*solutions[i];
  });
  for (std::size_t i = 0; i < prices.size(); ++i) {
    if (!solutions[i]) continue;
    JOINTER_CHECK(*solutions[i]);
    bound.solved_.push_back({std::move(prices[i]), (*solutions[i])->cost_ns});
  }
  return bound;
}

}  // namespace jointer
