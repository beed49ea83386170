// Chooses the values that a flat training step saves under an activation budget.
//
// Terms
//   whole   the forward values that the backward reads in the step as traced; saved at budget 1.
//   least   the values that cannot be recomputed or are tagged to be saved. At budget 0, these are
//           saved and everything else is recomputed.
//   item    a storage that the whole saves and the least does not, unless it is live throughout
//           the step anyway.
//
// A budget is the fraction of the items' bytes that may be saved. As for a joint graph, torch's
// knapsack chooses the items to save: the weight of an item is its fraction of these bytes, and its
// value is the FLOPs of the call that allocates it, at least one. Values tagged for recomputation
// belong to no item and are saved only if they cannot be recomputed.
//
// Source: choose_saved_values_set (activation_budget.cpp). Deviations: a flat training step has no
// minimum cut, so the items are the values that the backward reads, not the points at which saving
// is cheapest; PlanFrontier finds those points.
//
// Cost: linear in the graph and one knapsack table; then, for each budget, a walk through the table
// and over the graph.

#include "core/partition/step_budget.h"

#include <algorithm>
#include <unordered_map>

#include "core/cost/node_flops.h"
#include "core/partition/plan_state.h"
#include "core/partition/recompute_tags.h"

namespace jointer {

Result<StepBudget> StepBudget::make(const Graph& step, const PlanWhatIf& what_if,
                                    const PartitionOptions& options) {
  const PlanWhatIf::State& state = what_if.state();
  std::vector<NodeId> values, always, offloaded;
  for (const NodeId id : step.order()) {
    const Node& n = step.node(id);
    if (n.kind != NodeKind::call || n.phase != Phase::forward) continue;
    values.push_back(id);
    if (is_tagged_to_save(n)) always.push_back(id);
    const bool is_offloaded = n.policy == MemoryPolicy::must_cpu_offload &&
                              state.why_not_offloaded(state.orders.place(id)).empty();
    if (is_offloaded) offloaded.push_back(id);
  }
  JOINTER_TRY(const SavePlan whole, what_if.plan_of(values, offloaded));
  JOINTER_TRY(const SavePlan min_plan, what_if.plan_of(always, offloaded));
  std::vector<std::uint8_t> is_taken(state.memory.storage_count(), 0);
  const auto storages = [&](NodeId id) { return state.memory.storages(state.orders.place(id)); };
  for (const NodeId id : min_plan.saved)
    for (const std::uint32_t storage : storages(id)) is_taken[storage] = 1;
  std::unordered_map<std::uint32_t, std::size_t> item_of;  // by storage
  std::vector<std::vector<NodeId>> items;
  std::vector<std::int64_t> bytes;
  Knapsack knapsack;
  for (const NodeId id : whole.saved) {
    if (storages(id).empty() || must_recompute(step.node(id))) continue;
    const std::uint32_t storage = storages(id).front();
    if (is_taken[storage] != 0 || state.memory.is_held(storage)) continue;
    const auto [known, is_new] = item_of.try_emplace(storage, items.size());
    if (is_new) {
      items.emplace_back();
      bytes.push_back(state.memory.bytes(storage));
      const NodeId call = state.orders.node(state.memory.producer(storage));
      const std::int64_t flops = node_flops(step, step.node(call)).torch_registry;
      knapsack.values.push_back(static_cast<double>(std::max(flops, std::int64_t{1})));
    }
    items[known->second].push_back(id);
  }
  double all = 0;
  for (const std::int64_t each : bytes) all += static_cast<double>(each);
  for (const std::int64_t each : bytes)
    knapsack.weights.push_back(all == 0 ? 0 : static_cast<double>(each) / all);
  StepBudget made(what_if, BudgetKnapsack(std::move(knapsack), options.solver, options.rounding));
  made.always_ = std::move(always);
  made.offloaded_ = std::move(offloaded);
  made.items_ = std::move(items);
  return made;
}

Result<SavePlan> StepBudget::plan(double budget) {
  if (!(budget >= 0 && budget <= 1))
    return fail(Error::Kind::usage, "an activation budget must be a number from 0 to 1, not {}",
                budget);
  std::vector<NodeId> saved = always_;
  const auto add = [&](std::size_t item) {
    saved.insert(saved.end(), items_[item].begin(), items_[item].end());
  };
  if (budget == 1) {
    for (std::size_t i = 0; i < items_.size(); ++i) add(i);
  } else if (budget > 0 && !items_.empty()) {
    JOINTER_TRY(const KnapsackAnswer answer, knapsack_.solve(budget));
    for (const std::size_t i : answer.saved) add(i);
  }
  return what_if_->plan_of(saved, offloaded_);
}

}  // namespace jointer
