#include "core/partition/order_bound.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "core/base/parallel.h"
#include "core/graph/users.h"

namespace jointer {
namespace {

// True for a call that only changes the dtype of a tensor, for collectives. A bucket casts its
// members itself (passes/bucketing/bucket_calls.cpp).
bool is_cast_for_collectives(const Graph& graph, NodeId id, const Users& users) {
  const auto inputs = graph.inputs(id);
  const auto results = graph.tensors(graph.node(id));
  if (graph.node(id).kind != NodeKind::call || inputs.size() != 1 || results.size() != 1)
    return false;
  const auto given = graph.tensors(graph.node(inputs.front()));
  if (given.size() != 1 || given.front().dtype == results.front().dtype) return false;
  const auto readers = users.of(id);
  return !readers.empty() && std::ranges::all_of(readers, [&](NodeId reader) {
    return graph.is_collective_start(graph.node(reader));
  });
}

}  // namespace

std::vector<NodeCost> without_communication(const Graph& graph, std::span<const NodeCost> costs) {
  const Users users(graph);
  std::vector<NodeCost> rest(costs.begin(), costs.end());
  for (const NodeId id : graph.order()) {
    const Node& node = graph.node(id);
    if (graph.is_collective_start(node) || graph.is_wait(node) ||
        is_cast_for_collectives(graph, id, users))
      rest[id.index()].ns = rest[id.index()].host_ns = 0;
  }
  return rest;
}

Result<OrderBound> OrderBound::make(
    const Graph& joint, std::span<const NodeCost> costs,
    const std::function<std::unique_ptr<PlanWhatIf>(std::span<const NodeCost>)>& make_what_if,
    const Options& options) {
  OrderBound bound;
  bound.costs_ = std::make_unique<const std::vector<NodeCost>>(without_communication(joint, costs));
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
