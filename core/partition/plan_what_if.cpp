// A pair's figures from its joint graph and a plan.
//
// The pair's calls are the joint graph's, some of them twice; nothing about a call but its place
// changes with the plan. So what a call takes in time and memory is put into dense arrays once, by
// its place in the joint graph's order, and a plan is evaluated in three walks:
//   1. which calls each half runs, and in which order (pair_order.cpp);
//   2. live bytes, with the rules of lifetimes.cpp (plan_memory.cpp);
//   3. time, with the model of simulation.cpp (plan_time.cpp).
// Nothing is kept between plans: a change reaches the figures of everything behind it, and a whole
// walk is linear in arrays that lie in its order.
//
// What there is to decide about is in plan_candidates.cpp, how a decision becomes a plan in
// plan_change.cpp.
//
// Deviation from the pair: the main device is the joint graph's.
//
// Cost: linear in nodes, edges and tensors of the joint graph. Measured by tests/benchmarks/
// plan_benchmark.cpp.

#include "core/partition/plan_what_if.h"

#include <algorithm>

#include "core/partition/plan_state.h"

namespace jointer {

namespace {

// Of one half, as plan_memory.cpp walks over it.
void add_steps(const PairOrders& orders, const PairOrder& order, bool backward,
               std::vector<NodeId>& steps) {
  const auto& transfers = backward ? order.backward_transfers : order.forward_transfers;
  auto next = transfers.begin();
  const auto copies_before = [&](std::size_t call) {
    for (; next != transfers.end() && next->before <= call; ++next)
      steps.push_back(orders.node(order.offloaded[next->value]));
  };
  std::size_t call = 0;
  for (const Place p : backward ? order.backward : order.forward) {
    if (!orders.has(p, PairOrders::is_call)) continue;
    copies_before(call++);
    steps.push_back(orders.node(p));
  }
  copies_before(call);
}

}  // namespace

PlanWhatIf::PlanWhatIf(const Graph& joint, std::span<const NodeCost> costs,
                       std::span<const Flops> flops, const MemoryOptions& memory,
                       const SimulationOptions& simulation, const PlanWhatIfOptions& options)
    : state_(std::make_unique<State>(joint, costs, flops, memory, simulation, options)) {}

PlanWhatIf::~PlanWhatIf() = default;

Result<PlanWhatIf::Outcome> PlanWhatIf::evaluate(const SavePlan& plan) const {
  const State& s = *state_;
  JOINTER_TRY(const PairOrder order, s.orders.order(plan));
  PlanMemory::Result memory = s.memory.evaluate(order);
  const StepTime time = s.time.evaluate(order);
  Outcome outcome;
  outcome.figures = {.figures = {.peak_bytes = memory.peak_bytes,
                                 .step_ns = time.step_ns,
                                 .exposed_ns = time.exposed_ns},
                     .saved_bytes = memory.saved_bytes,
                     .offloaded_bytes = memory.offloaded_bytes};
  outcome.profile = std::move(memory.profile);
  std::vector<std::uint8_t> runs_first(s.orders.size(), 0);
  for (const Place p : order.forward) {
    if (!s.orders.has(p, PairOrders::is_call)) continue;
    runs_first[p] = 1;
    ++outcome.forward_steps;
  }
  outcome.steps.reserve(outcome.profile.size() / 2);
  for (const bool backward : {false, true}) add_steps(s.orders, order, backward, outcome.steps);
  for (const Place p : order.backward) {
    if (!runs_first[p]) continue;
    ++outcome.figures.recomputed;
    outcome.figures.recompute_ns += s.time.ns(p);
    outcome.figures.recompute_flops += s.time.flops(p);
  }
  return outcome;
}

Result<PlanFigures> PlanWhatIf::figures(const SavePlan& plan) const {
  return evaluate(plan).map([](Outcome&& outcome) { return outcome.figures; });
}

Result<std::vector<std::int64_t>> PlanWhatIf::profile(const SavePlan& plan) const {
  const State& s = *state_;
  JOINTER_TRY(const PairOrder order, s.orders.order(plan));
  return s.memory.evaluate(order).profile;
}

std::string PlanWhatIf::why_not_recomputed(NodeId node) const {
  const Place place = state_->orders.place(node);
  return state_->recomputable.if_asked(place) ? std::string() : state_->recomputable.why_not(place);
}

}  // namespace jointer
