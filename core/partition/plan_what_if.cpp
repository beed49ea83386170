// Computes the estimates of a pair from its joint graph and a plan, or those of a flat training
// step.
//
// The pair's calls are the joint graph's, some of them twice; only their positions depend on the
// plan. The time and memory of each call are therefore stored in dense arrays once, by position in
// the joint graph, and a plan is evaluated in three walks:
//   1. the calls that each half runs, and their order (pair_order.cpp, flat_order.cpp);
//   2. live bytes, by the rules of lifetimes.cpp (plan_memory.cpp, step_memory.cpp);
//   3. time, by the model of clocks.h (plan_time.cpp).
// Nothing is cached between plans: a change affects the estimates of everything after it, and a
// complete walk is linear, over arrays in the order of the walk.
//
// plan_candidates.cpp lists the values to decide about; plan_change.cpp turns decisions into a
// plan.
//
// Deviation from the pair: the main device is the joint graph's.
//
// Cost: linear in nodes, edges and tensors of the joint graph; measured by
// tests/benchmarks/plan_benchmark.cpp.

#include "core/partition/plan_what_if.h"

#include "core/partition/partitioned_values.h"
#include "core/partition/plan_state.h"

namespace jointer {

namespace {

// Appends the nodes of one half's steps (Outcome::steps).
void add_steps(const PairOrders& orders, const PairOrder& order, bool backward,
               std::vector<NodeId>& steps) {
  const auto add = [&](Place p) { steps.push_back(orders.node(p)); };
  walk_half(orders, order, backward, add, add,
            [&](const TransferCall& call) { add(order.offloaded[call.value]); });
}

// The plan's estimates, except those about recomputed calls.
PlanFigures figures_of(const PlanMemory::Result& memory, const PlanTime::Times& time) {
  return {.figures = {.peak_bytes = memory.peak_bytes,
                      .step_ns = time.step.step_ns,
                      .exposed_ns = time.step.exposed_ns},
          .compute_ns = time.compute_ns,
          .saved_bytes = memory.saved_bytes,
          .offloaded_bytes = memory.offloaded_bytes};
}

// Adds the recomputed calls to the estimates, and visits each.
template <class Visit>
void add_recomputed(const PlanWhatIf::State& s, const PairOrder& order, PlanFigures& figures,
                    Visit visit) {
  const auto add = [&](Place p) {
    ++figures.recomputed;
    figures.recompute_ns += s.time.ns(p);
    figures.recompute_flops += s.time.flops(p);
    visit(p);
  };
  // Count the calls of a flat training step as partitioned_values does.
  for (const StepCall& call : order.step) {
    const Node& node = s.graph.node(s.orders.node(call.place));
    if (call.kind == StepCall::Kind::copy || call.kind == StepCall::Kind::repeat ||
        (call.kind == StepCall::Kind::original && node.has(Node::recomputed) &&
         !moves_memory(s.graph, node)))
      add(call.place);
  }
  if (s.orders.is_flat()) return;
  std::vector<std::uint8_t> runs_first(s.orders.size(), 0);
  for (const Place p : order.forward)
    if (s.orders.has(p, PairOrders::is_call)) runs_first[p] = 1;
  for (const Place p : order.backward)
    if (runs_first[p]) add(p);
}

}  // namespace

void PlanWhatIf::State::describe_steps(const PairOrder& order, Outcome& outcome) const {
  bool is_before = true;
  for (const StepCall& call : order.step) {
    outcome.steps.push_back(orders.node(call.place));
    is_before =
        is_before && call.kind != StepCall::Kind::copy &&
        !(call.kind == StepCall::Kind::original && orders.has(call.place, PairOrders::in_region));
    outcome.forward_steps += is_before ? 1 : 0;
  }
}

PlanWhatIf::PlanWhatIf(const Graph& joint, std::span<const NodeCost> costs,
                       std::span<const Flops> flops, const MemoryOptions& memory,
                       const SimulationOptions& simulation, const PlanWhatIfOptions& options)
    : state_(std::make_unique<State>(joint, costs, flops, memory, simulation, options)) {}

PlanWhatIf::~PlanWhatIf() = default;

Result<PlanWhatIf::Outcome> PlanWhatIf::evaluate(const SavePlan& plan) const {
  const State& s = *state_;
  JOINTER_TRY(const PairOrder order, s.orders.order(plan));
  PlanMemory::Result memory = s.memory.evaluate(order);
  Outcome outcome;
  outcome.figures = figures_of(memory, s.time.evaluate(order));
  outcome.profile = std::move(memory.profile);
  outcome.steps.reserve(outcome.profile.size() / 2);
  if (s.orders.is_flat()) {
    s.describe_steps(order, outcome);
  } else {
    add_steps(s.orders, order, false, outcome.steps);
    outcome.forward_steps = outcome.steps.size();
    add_steps(s.orders, order, true, outcome.steps);
  }
  add_recomputed(s, order, outcome.figures, [&](Place p) {
    outcome.recomputed.push_back({s.orders.node(p), s.time.ns(p)});
  });
  return outcome;
}

Result<PlanFigures> PlanWhatIf::figures(const SavePlan& plan) const {
  const State& s = *state_;
  JOINTER_TRY(const PairOrder order, s.orders.order(plan));
  PlanFigures figures = figures_of(s.memory.evaluate(order), s.time.evaluate(order));
  add_recomputed(s, order, figures, [](Place) {});
  return figures;
}

// Rejects a plan at the lowest cost possible: checks first the bytes that are live between the
// halves, then the time, then the peak.
Result<PlanWhatIf::Bounded> PlanWhatIf::figures_within(const SavePlan& plan,
                                                       const Figures& limits) const {
  const State& s = *state_;
  if (!s.orders.is_flat()) {  // in a flat training step, saved values are not all live at once
    std::vector<Place> saved, offloaded;
    for (const NodeId id : plan.saved) saved.push_back(s.orders.place(id));
    for (const NodeId id : plan.offloaded) offloaded.push_back(s.orders.place(id));
    if (s.memory.bytes_between(saved, offloaded) > limits.peak_bytes)
      return Bounded{.exceeds = Exceeds::peak};
  }
  JOINTER_TRY(const PairOrder order, s.orders.order(plan));
  const PlanTime::Times time = s.time.evaluate(order);
  if (time.step.step_ns > limits.step_ns) return Bounded{.exceeds = Exceeds::step};
  const PlanMemory::Result memory = s.memory.evaluate(order);
  if (memory.peak_bytes > limits.peak_bytes) return Bounded{.exceeds = Exceeds::peak};
  Bounded within{.figures = figures_of(memory, time)};
  add_recomputed(s, order, within.figures, [](Place) {});
  return within;
}

Result<std::int64_t> PlanWhatIf::reserved_bytes(const SavePlan& plan) const {
  const State& s = *state_;
  JOINTER_TRY(const PairOrder order, s.orders.order(plan));
  return s.memory.reserved_bytes(order);
}

Result<std::vector<std::int64_t>> PlanWhatIf::profile(const SavePlan& plan) const {
  const State& s = *state_;
  JOINTER_TRY(const PairOrder order, s.orders.order(plan));
  return s.memory.evaluate(order).profile;
}

}  // namespace jointer
