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
#include <initializer_list>
#include <unordered_set>
#include <utility>

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

// Applies the decisions to one plan. Vectors are indexed by place.
class PlanWhatIf::State::Decider {
 public:
  Decider(const State& state, const SavePlan& plan, const Decisions& decisions)
      : state_(state),
        orders_(state.orders),
        plan_(plan),
        decisions_(decisions),
        was_given_(flags_of({&plan.saved, &plan.saved_symbols})),
        is_offloaded_(flags_of({&plan.offloaded})),
        is_redrawn_(flags_of({&plan.redrawn})),
        given_(state.always_given),
        is_decided_(orders_.size(), 0),
        is_wanted_(orders_.size(), 0),
        is_part_(orders_.size(), 0),
        is_taken_(orders_.size(), 0) {}

  Result<PlanChange> run() {
    find_given();
    for (const auto& [id, action] : decisions_) decide(id, action);
    JOINTER_TRY(const PairOrder order, orders_.backward_calls(given_));
    for (const auto* taken : {&order.saved, &order.symbols})
      for (const Place p : *taken) is_taken_[p] = 1;
    change_.plan.saved = merged(plan_.saved, order.saved);
    change_.plan.saved_symbols = merged(plan_.saved_symbols, order.symbols);
    for (Place p = 0; p < orders_.size(); ++p) {
      if (is_taken_[p] && is_offloaded_[p]) change_.plan.offloaded.push_back(orders_.node(p));
      add_notes(p);
    }
    for (const Place p : order.backward)
      if (is_redrawn_[p] || (state_.keeps_state[p] && is_new(p)))
        change_.plan.redrawn.push_back(orders_.node(p));
    std::ranges::sort(change_.plan.offloaded);
    std::ranges::sort(change_.plan.redrawn);
    return std::move(change_);
  }

 private:
  using Flags = std::vector<std::uint8_t>;

  [[nodiscard]] Flags flags_of(std::initializer_list<const std::vector<NodeId>*> lists) const {
    Flags flags(orders_.size(), 0);
    for (const auto* ids : lists)
      for (const NodeId id : *ids) flags[orders_.place(id)] = 1;
    return flags;
  }

  // The values that the backward may receive before the decisions are applied. A random call that a
  // decision asks to recompute is not among them.
  void find_given() {
    for (const auto& [id, action] : decisions_) {
      if (!state_.graph.is_live(id)) continue;
      is_decided_[orders_.place(id)] = 1;
      if (action != PlanAction::recompute) continue;
      const Place call = state_.recomputable.source(orders_.place(id));
      if (state_.recomputable.if_asked(call) && can_keep_state(state_.graph, node(call)))
        is_redrawn_[call] = 1;
    }
    for (Place p = 0; p < orders_.size(); ++p)
      given_[p] = was_given_[p] || (given_[p] && !is_redrawn_[state_.recomputable.source(p)]);
  }

  void decide(NodeId id, PlanAction action) {
    if (!state_.graph.is_live(id)) {
      change_.refused.push_back(
          {id, fmt::format(
                   "{} is no longer in the graph: it was dead code or a duplicate of another call",
                   state_.graph.name(id))});
      return;
    }
    const std::vector<Place> parts = state_.elements(id);
    for (const Place part : parts) {
      if (is_decided_[part]) continue;
      is_part_[part] = 1;
      decide_value(part, action);
    }
    if (parts.empty()) decide_value(orders_.place(id), action);
  }

  void decide_value(Place p, PlanAction action) {
    if (std::string why = why_refused(p, action); !why.empty()) {
      change_.refused.push_back({orders_.node(p), std::move(why)});
      return;
    }
    given_[p] = is_wanted_[p] = action != PlanAction::recompute;
    is_offloaded_[p] = action == PlanAction::offload;
  }

  [[nodiscard]] std::string why_refused(Place p, PlanAction action) const {
    if (action == PlanAction::offload) return state_.why_not_offloaded(p);
    std::string why = state_.why_not_saved(p);
    const bool is_refused =
        why.empty() && action == PlanAction::recompute && !state_.recomputable.if_asked(p);
    return is_refused ? state_.recomputable.why_not(p) : why;
  }

  // The taken values, in the order of `before`; new ones are inserted by position.
  [[nodiscard]] std::vector<NodeId> merged(const std::vector<NodeId>& before,
                                           const std::vector<Place>& taken) const {
    std::vector<NodeId> all;
    auto next = taken.begin();
    const auto insert_new = [&](Place until) {
      for (; next != taken.end() && *next < until; ++next)
        if (!was_given_[*next]) all.push_back(orders_.node(*next));
    };
    for (const NodeId id : before) {
      if (!is_taken_[orders_.place(id)]) continue;
      insert_new(orders_.place(id));
      all.push_back(id);
    }
    insert_new(static_cast<Place>(orders_.size()));
    return all;
  }

  // Notes a decision that has no effect, and a value that is saved without a decision.
  void add_notes(Place p) {
    if (is_wanted_[p] && !is_taken_[p] && !has_taken_sibling(p))
      change_.refused.push_back(
          {orders_.node(p), fmt::format("the backward does not need {} under this plan",
                                        state_.graph.name(orders_.node(p)))});
    if (is_taken_[p] && !was_given_[p] && !is_wanted_[p] && orders_.has(p, PairOrders::is_call))
      change_.saved.push_back({orders_.node(p), state_.recomputable.why_not(p)});
  }

  // True if the decision was about the whole call, and the backward needs another of its elements.
  [[nodiscard]] bool has_taken_sibling(Place p) const {
    return is_part_[p] &&
           std::ranges::any_of(orders_.getitems(orders_.inputs(p).front()),
                               [&](Place part) { return is_taken_[part] && is_wanted_[part]; });
  }

  // False if the plan already recomputes the call. If it does so without saving the generator
  // state, it still does not save one.
  [[nodiscard]] bool is_new(Place call) const {
    return plan_.saved.empty() || was_given_[call] ||
           std::ranges::any_of(orders_.getitems(call),
                               [&](Place part) { return was_given_[part]; });
  }

  [[nodiscard]] const Node& node(Place p) const { return state_.graph.node(orders_.node(p)); }

  const State& state_;
  const PairOrders& orders_;
  const SavePlan& plan_;
  const Decisions& decisions_;
  Flags was_given_, is_offloaded_, is_redrawn_;
  Flags given_;       // the values that the backward may receive
  Flags is_decided_;  // by a separate decision
  Flags is_wanted_;   // decided to be saved or offloaded
  Flags is_part_;     // decided as an element of a call
  Flags is_taken_;    // the values that the backward receives
  PlanChange change_;
};

Result<PlanChange> PlanWhatIf::State::decide(const SavePlan& plan,
                                             const Decisions& decisions) const {
  return Decider(*this, plan, decisions).run();
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
