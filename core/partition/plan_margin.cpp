// Measures how far each decision of a plan is from flipping.
//
// Terms
//   density   the bytes that recomputing a value frees, per microsecond of its chain.
//   cut-off   a density: the plan recomputes values of this density or more and saves the others,
//             with the fewest exceptions (cut_off.cpp).
//
// The density and the cut-off explain the decision, since a search weighs bytes against time. The
// effect of a decision on the step is not estimated from them: for each requested value, the
// complete step is evaluated with each other decision for that value alone, and once with its
// decision and that of the nearest equal value with a different decision swapped. Bytes of a shared
// storage count as in SaveCandidate::bytes.
//
// A saved value can depend on others: if one more value of its chain were saved, its chain would be
// shorter, and the value might pass the cut-off. The margin names the smallest such value, if the
// chain has at most kMaxChain members.
//
// Cost: an evaluation of the plan and its candidates once; for each value, one walk over its chain
// per member of the chain, and the evaluation of three plans.

#include "core/partition/plan_margin.h"

#include <algorithm>

#include "core/partition/plan_state.h"

namespace jointer {
namespace {

// Chains longer than this are not searched for a value to save.
constexpr std::size_t kMaxChain = 256;

bool has_density(const SaveCandidate& value) {
  return value.bytes > 0 && value.chain > 0;
}

std::size_t index_of(PlanAction action) {
  return static_cast<std::size_t>(action);
}

}  // namespace

PlanMargins::PlanMargins(const PlanWhatIf& what_if, SavePlan plan, PairOrder order)
    : what_if_(&what_if),
      plan_(std::move(plan)),
      order_(std::move(order)),
      equal_(what_if.state().orders, what_if.state().time) {}

Result<PlanMargins> PlanMargins::make(const PlanWhatIf& what_if, SavePlan plan) {
  JOINTER_TRY(const PlanFigures figures, what_if.figures(plan));
  JOINTER_TRY(PairOrder order, what_if.state().orders.order(plan));
  PlanMargins made(what_if, std::move(plan), std::move(order));
  made.figures_ = figures.figures;
  JOINTER_TRY(made.candidates_, what_if.state().candidates(made.plan_, made.order_));
  made.find_cut_off();
  return made;
}

void PlanMargins::find_cut_off() {
  std::vector<WeighedValue> values;
  for (const SaveCandidate& each : candidates_)
    if (has_density(each) && each.action != PlanAction::offload)
      values.push_back({.density = bytes_per_us(each),
                        .bytes = each.bytes,
                        .is_recomputed = each.action == PlanAction::recompute});
  cut_off_ = jointer::cut_off(std::move(values));
}

Result<ValueMargin> PlanMargins::of(NodeId node) const {
  const auto found = std::ranges::find(candidates_, node, &SaveCandidate::node);
  const PlanWhatIf::State& s = what_if_->state();
  if (found == candidates_.end())
    return fail(Error::Kind::usage, "the backward does not need {} under this plan",
                s.graph.name(node));
  ValueMargin margin{.value = *found, .now = figures_};
  if (has_density(*found)) margin.bytes_per_us = bytes_per_us(*found);
  if (cut_off_) margin.cutoff_bytes_per_us = cut_off_->density;
  margin.copy_ns = s.time.copy_cost(s.orders.place(node)).ns;
  add_choices(margin);
  add_equal(margin);
  margin.if_saved_too = if_saved_too(margin);
  margin.only_for = only_for(*found);
  return margin;
}

void PlanMargins::add_choices(ValueMargin& margin) const {
  for (const PlanAction action : {PlanAction::recompute, PlanAction::save, PlanAction::offload}) {
    ValueMargin::Choice& choice = margin.choices[index_of(action)];
    if (action == margin.value.action) {
      choice.figures = figures_;
      continue;
    }
    const auto changed = what_if_->change(plan_, {&margin.value.node, 1}, action);
    const auto figures = changed ? what_if_->figures(*changed)
                                 : Result<PlanFigures>(tl::unexpected(changed.error()));
    if (figures)
      choice.figures = figures->figures;
    else
      choice.why_not = figures.error().message;
  }
}

void PlanMargins::add_equal(ValueMargin& margin) const {
  const PairOrders& orders = what_if_->state().orders;
  const Place place = orders.place(margin.value.node);
  const auto distance = [&](const SaveCandidate& other) {
    const Place p = orders.place(other.node);
    return p < place ? place - p : p - place;
  };
  const SaveCandidate* nearest = nullptr;
  for (const SaveCandidate& each : candidates_) {
    if (equal_.group(orders.place(each.node)) != equal_.group(place)) continue;
    ++margin.equal[index_of(each.action)];
    if (each.action != margin.value.action &&
        (nearest == nullptr || distance(each) < distance(*nearest)))
      nearest = &each;
  }
  if (nearest == nullptr) return;
  if (const auto figures = exchanged(margin.value, *nearest))
    margin.exchange = {.with = nearest->node, .action = nearest->action, .figures = *figures};
}

Result<Figures> PlanMargins::exchanged(const SaveCandidate& a, const SaveCandidate& b) const {
  JOINTER_TRY(const SavePlan first, what_if_->change(plan_, {&a.node, 1}, b.action));
  JOINTER_TRY(const SavePlan both, what_if_->change(first, {&b.node, 1}, a.action));
  JOINTER_TRY(const PlanFigures figures, what_if_->figures(both));
  return figures.figures;
}

NodeId PlanMargins::if_saved_too(const ValueMargin& margin) const {
  if (margin.value.action != PlanAction::save || !margin.bytes_per_us ||
      !margin.cutoff_bytes_per_us || *margin.bytes_per_us >= *margin.cutoff_bytes_per_us)
    return {};
  const PlanWhatIf::State& s = what_if_->state();
  const Place value = s.orders.place(margin.value.node);
  std::vector<std::uint8_t> is_there(s.orders.size(), 0);
  for (Place p = 0; p < s.orders.size(); ++p) is_there[p] = s.is_available(plan_, order_, p);
  // The value, then the calls of its chain, except `without` and the calls that only `without`
  // needs.
  const auto chain = [&](Place without) {
    std::vector<Place> members{value};
    std::vector<std::uint8_t> is_member(value + 1, 0);
    for (std::size_t i = 0; i < members.size() && members.size() <= kMaxChain; ++i)
      for (const Place input : s.orders.inputs(members[i]))
        if (!is_there[input] && input != without && !std::exchange(is_member[input], 1))
          members.push_back(input);
    return members;
  };
  // Saving another value in the same memory frees nothing.
  const auto shares_memory = [&](Place member) {
    return std::ranges::find_first_of(s.memory.storages(member), s.memory.storages(value)) !=
           s.memory.storages(member).end();
  };
  const std::vector<Place> whole = chain(value);
  if (whole.size() > kMaxChain) return {};
  Place best = value;
  std::int64_t fewest = 0;
  for (const Place member : whole) {
    if (shares_memory(member) || s.orders.has(member, PairOrders::is_start) ||
        !s.why_not_saved(member).empty())
      continue;
    std::int64_t bytes = 0, ns = 0;
    for (const std::uint32_t storage : s.memory.storages(member))
      if (!s.memory.is_held(storage)) bytes += s.memory.bytes(storage);
    for (const Place p : chain(member)) ns += s.time.ns(p);
    SaveCandidate shorter = margin.value;
    shorter.recompute_ns = ns;
    if (bytes_per_us(shorter) < *margin.cutoff_bytes_per_us) continue;
    if (best != value && bytes >= fewest) continue;
    best = member;
    fewest = bytes;
  }
  return best == value ? NodeId{} : s.orders.node(best);
}

NodeId PlanMargins::only_for(const SaveCandidate& value) const {
  if (value.action != PlanAction::recompute) return {};
  const PlanWhatIf::State& s = what_if_->state();
  const Place of = s.orders.place(value.node);
  // Views of the value count as the value.
  std::vector<std::uint8_t> is_value(s.orders.size(), 0);
  is_value[of] = 1;
  NodeId only;
  for (const Place p : order_.backward) {
    const auto inputs = s.orders.inputs(p);
    if (!std::ranges::any_of(inputs, [&](Place input) { return is_value[input] != 0; })) continue;
    if (!s.orders.has(p, PairOrders::of_forward)) return {};
    const auto mine = s.memory.storages(of), its = s.memory.storages(p);
    if (!mine.empty() && std::ranges::equal(mine, its)) {
      is_value[p] = 1;
      continue;
    }
    if (only || !s.why_not_saved(p).empty()) return {};
    only = s.orders.node(p);
  }
  const bool is_returned = std::ranges::any_of(s.orders.backward_outputs(),
                                               [&](Place output) { return is_value[output] != 0; });
  return is_returned ? NodeId{} : only;
}

}  // namespace jointer
