// Turns decisions about some values into a plan.
//
// Steps
//   1. Collect the values that the backward may receive: the saved values of the plan, changed by
//      the decisions; the graph's inputs; and every value that cannot be recomputed. A random call
//      can be recomputed if a decision asks for it, or an earlier one did.
//   2. Find the calls that the backward runs if it has all of these values. Save those of the
//      values that these calls read or the backward returns, and no others. Therefore, the backward
//      has every value that it needs, whatever the decisions.
//   3. Keep the order of the values that the plan had, and insert new ones by position.
// A decision about a call that returns several values applies to each of its elements, except those
// that are decided separately. Elements that the backward does not need are ignored if it needs
// another one.

#include <algorithm>
#include <unordered_set>

#include "core/partition/plan_state.h"
#include "core/partition/random_states.h"

namespace jointer {

std::string PlanWhatIf::State::why_not_saved(Place place) const {
  const NodeId id = orders.node(place);
  if (orders.has(place, PairOrders::is_placeholder))
    return fmt::format("{} is an input, which is always available", graph.name(id));
  if (!orders.has(place, PairOrders::of_forward) || !orders.has(place, PairOrders::is_call))
    return fmt::format("{} is not a value of the forward", graph.name(id));
  if (graph.node(id).value.kind != Value::Kind::tensor)
    return fmt::format("{} is not a tensor", graph.name(id));
  return {};
}

std::vector<std::uint8_t> PlanWhatIf::State::find_always_given() const {
  std::vector<std::uint8_t> given(orders.size());
  for (Place p = 0; p < orders.size(); ++p)
    given[p] = orders.has(p, PairOrders::is_placeholder) ||
               (!recomputable(p) && orders.has(p, PairOrders::of_forward) &&
                (orders.has(p, PairOrders::is_symbolic) || why_not_saved(p).empty()));
  return given;
}

std::string PlanWhatIf::State::why_not_offloaded(Place place) const {
  if (std::string why = why_not_saved(place); !why.empty()) return why;
  const NodeId id = orders.node(place);
  if (std::string why = orders.why_not_offloaded(place); !why.empty()) return why;
  const auto storages = memory.storages(place);
  if (storages.empty()) return fmt::format("{} uses no device memory", graph.name(id));
  if (memory.is_held(storages.front()))
    return fmt::format("{} is in memory that the step occupies anyway", graph.name(id));
  return {};
}

// Before 2.14, torch also saves the generator state for attention without dropout, which draws no
// random numbers.
std::vector<std::uint8_t> PlanWhatIf::State::find_keeps_state() const {
  std::vector<std::uint8_t> keeps(orders.size(), 0);
  if (orders.is_flat()) return keeps;
  for (Place p = 0; p < orders.size(); ++p) {
    const Node& node = graph.node(orders.node(p));
    keeps[p] = orders.has(p, PairOrders::of_forward) && can_keep_state(graph, node) &&
               draws_nothing(graph, node);
  }
  return keeps;
}

std::vector<Place> PlanWhatIf::State::elements(NodeId call) const {
  if (graph.node(call).value.kind != Value::Kind::list) return {};
  return orders.getitems(orders.place(call));
}

Result<PlanChange> PlanWhatIf::State::decide(const SavePlan& plan,
                                             const Decisions& decisions) const {
  PlanChange change;
  std::vector<std::uint8_t> given = always_given, was_given(orders.size(), 0),
                            is_wanted(orders.size(), 0), is_offloaded(orders.size(), 0),
                            is_redrawn(orders.size(), 0), is_decided(orders.size(), 0),
                            is_part(orders.size(), 0);
  for (const NodeId id : plan.redrawn) is_redrawn[orders.place(id)] = 1;
  for (const auto& [id, action] : decisions) {
    if (!graph.is_live(id)) continue;
    is_decided[orders.place(id)] = 1;
    if (action != PlanAction::recompute) continue;
    const Place call = recomputable.source(orders.place(id));
    if (recomputable.if_asked(call) && can_keep_state(graph, graph.node(orders.node(call))))
      is_redrawn[call] = 1;
  }
  for (const NodeId id : plan.saved) was_given[orders.place(id)] = 1;
  for (const NodeId id : plan.saved_symbols) was_given[orders.place(id)] = 1;
  for (const NodeId id : plan.offloaded) is_offloaded[orders.place(id)] = 1;
  for (Place p = 0; p < orders.size(); ++p)
    given[p] = was_given[p] || (given[p] && !is_redrawn[recomputable.source(p)]);

  for (const auto& [id, action] : decisions)
    if (!graph.is_live(id))
      change.refused.push_back(
          {id, fmt::format(
                   "{} is no longer in the graph: it was dead code or a duplicate of another call",
                   graph.name(id))});
  const auto decide_one = [&](Place p, PlanAction action) {
    const std::string why = action == PlanAction::save      ? why_not_saved(p)
                            : action == PlanAction::offload ? why_not_offloaded(p)
                            : !why_not_saved(p).empty()     ? why_not_saved(p)
                            : recomputable.if_asked(p)      ? std::string()
                                                            : recomputable.why_not(p);
    if (!why.empty()) {
      change.refused.push_back({orders.node(p), why});
      return;
    }
    given[p] = action != PlanAction::recompute;
    is_wanted[p] = action != PlanAction::recompute;
    is_offloaded[p] = action == PlanAction::offload;
  };
  for (const auto& [id, action] : decisions) {
    if (!graph.is_live(id)) continue;
    const std::vector<Place> parts = elements(id);
    for (const Place part : parts) {
      if (is_decided[part]) continue;
      is_part[part] = 1;
      decide_one(part, action);
    }
    if (parts.empty()) decide_one(orders.place(id), action);
  }

  JOINTER_TRY(const PairOrder order, orders.backward_calls(given));
  std::vector<std::uint8_t> is_taken(orders.size(), 0);
  const auto merge = [&](const std::vector<NodeId>& before, const std::vector<Place>& taken) {
    for (const Place p : taken) is_taken[p] = 1;
    std::vector<NodeId> merged;
    auto next = taken.begin();
    const auto insert_new = [&](Place until) {
      for (; next != taken.end() && *next < until; ++next)
        if (!was_given[*next]) merged.push_back(orders.node(*next));
    };
    for (const NodeId id : before) {
      if (!is_taken[orders.place(id)]) continue;
      insert_new(orders.place(id));
      merged.push_back(id);
    }
    insert_new(static_cast<Place>(orders.size()));
    return merged;
  };
  change.plan.saved = merge(plan.saved, order.saved);
  change.plan.saved_symbols = merge(plan.saved_symbols, order.symbols);
  const auto has_taken_sibling = [&](Place p) {
    return is_part[p] &&
           std::ranges::any_of(orders.getitems(orders.inputs(p).front()),
                               [&](Place part) { return is_taken[part] && is_wanted[part]; });
  };
  for (Place p = 0; p < orders.size(); ++p) {
    if (is_taken[p] && is_offloaded[p]) change.plan.offloaded.push_back(orders.node(p));
    if (is_wanted[p] && !is_taken[p] && !has_taken_sibling(p))
      change.refused.push_back(
          {orders.node(p), fmt::format("the backward does not need {} under this plan",
                                       graph.name(orders.node(p)))});
    if (is_taken[p] && !was_given[p] && !is_wanted[p] && orders.has(p, PairOrders::is_call))
      change.saved.push_back({orders.node(p), recomputable.why_not(p)});
  }
  std::sort(change.plan.offloaded.begin(), change.plan.offloaded.end());
  // If the plan already recomputes a call without saving its generator state, it still does not
  // save one.
  const auto is_new = [&](Place call) {
    return plan.saved.empty() || was_given[call] ||
           std::ranges::any_of(orders.getitems(call), [&](Place part) { return was_given[part]; });
  };
  for (const Place p : order.backward)
    if (is_redrawn[p] || (keeps_state[p] && is_new(p)))
      change.plan.redrawn.push_back(orders.node(p));
  std::sort(change.plan.redrawn.begin(), change.plan.redrawn.end());
  return change;
}

Result<SavePlan> PlanWhatIf::plan_of(std::span<const NodeId> saved,
                                     std::span<const NodeId> offloaded) const {
  State::Decisions decisions;
  for (const NodeId id : saved) decisions.emplace_back(id, PlanAction::save);
  for (const NodeId id : offloaded) decisions.emplace_back(id, PlanAction::offload);
  JOINTER_TRY(PlanChange change, state_->decide({}, decisions));
  return std::move(change.plan);
}

Result<PlanChange> PlanWhatIf::change_all(const SavePlan& plan, std::span<const NodeId> nodes,
                                          PlanAction action) const {
  State::Decisions decisions;
  for (const NodeId id : nodes) decisions.emplace_back(id, action);
  JOINTER_TRY(PlanChange change, state_->decide(plan, decisions));
  std::unordered_set<NodeId> refused;
  for (const PlanChange::Note& note : change.refused) refused.insert(note.node);
  const auto is_refused = [&](NodeId id) {
    if (!state_->graph.is_live(id)) return true;
    const std::vector<Place> parts = state_->elements(id);
    return parts.empty() ? refused.contains(id) : std::ranges::all_of(parts, [&](Place part) {
      return refused.contains(state_->orders.node(part));
    });
  };
  if (!refused.empty() && std::ranges::all_of(nodes, is_refused))
    return fail(Error::Kind::usage, "{}", change.refused.front().text);
  return change;
}

Result<SavePlan> PlanWhatIf::change(const SavePlan& plan, std::span<const NodeId> nodes,
                                    PlanAction action) const {
  JOINTER_TRY(PlanChange change, change_all(plan, nodes, action));
  if (!change.refused.empty()) return fail(Error::Kind::usage, "{}", change.refused.front().text);
  return std::move(change.plan);
}

Result<PlanChange> PlanWhatIf::apply_policies(const SavePlan& base,
                                              std::span<const MemoryPolicy> solved,
                                              std::span<const MemoryPolicy> now) const {
  State::Decisions decisions;
  for (const NodeId id : state_->graph.order()) {
    const MemoryPolicy was = id.index() < solved.size() ? solved[id.index()] : MemoryPolicy::none;
    const MemoryPolicy is = id.index() < now.size() ? now[id.index()] : MemoryPolicy::none;
    if (is == was) continue;
    if (const std::optional<PlanAction> action = action_of(is)) decisions.emplace_back(id, *action);
  }
  if (decisions.empty()) return PlanChange{.plan = base, .refused = {}, .saved = {}};
  return state_->decide(base, decisions);
}

std::vector<MemoryPolicy> policies_of(const Graph& graph) {
  std::vector<MemoryPolicy> policies(graph.node_count(), MemoryPolicy::none);
  for (const NodeId id : graph.order()) policies[id.index()] = graph.node(id).policy;
  return policies;
}

}  // namespace jointer
