// Computes the figures of a pair from its joint graph and a plan, or those of a flat training step.
//
// The pair's calls are the joint graph's, some of them twice; only their positions depend on the
// plan. The time and memory of each call are therefore stored in dense arrays once, by position in
// the joint graph, and a plan is evaluated in three walks:
//   1. the calls that each half runs, and their order (pair_order.cpp, flat_order.cpp);
//   2. live bytes, by the rules of lifetimes.cpp (plan_memory.cpp, step_memory.cpp);
//   3. time, by the model of clocks.h (plan_time.cpp).
// Nothing is cached between plans: a change affects the figures of everything after it, and a
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

#include <algorithm>

#include "core/partition/kept_values.h"
#include "core/partition/plan_state.h"

namespace jointer {

namespace {

// Adds the steps of one half.
void add_steps(const PairOrders& orders, const PairOrder& order, bool backward,
               std::vector<NodeId>& steps) {
  const auto add = [&](Place p) { steps.push_back(orders.node(p)); };
  walk_half(orders, order, backward, add, add,
            [&](const TransferCall& call) { add(order.offloaded[call.value]); });
}

}  // namespace

// The steps of a flat training step and the calls that it recomputes, as kept_values counts them.
void PlanWhatIf::State::describe_step(const PairOrder& order, Outcome& outcome) const {
  bool is_before = true;
  for (const StepCall& call : order.step) {
    const NodeId id = orders.node(call.place);
    outcome.steps.push_back(id);
    is_before =
        is_before && call.kind != StepCall::Kind::copy &&
        !(call.kind == StepCall::Kind::original && orders.has(call.place, PairOrders::in_region));
    outcome.forward_steps += is_before ? 1 : 0;
    const bool again =
        call.kind == StepCall::Kind::copy || call.kind == StepCall::Kind::repeat ||
        (call.kind == StepCall::Kind::original && graph.node(id).has(Node::recomputed) &&
         !moves_memory(graph, graph.node(id)));
    if (!again) continue;
    outcome.recomputed.push_back({id, time.ns(call.place)});
    ++outcome.figures.recomputed;
    outcome.figures.recompute_ns += time.ns(call.place);
    outcome.figures.recompute_flops += time.flops(call.place);
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
  const StepTime time = s.time.evaluate(order);
  Outcome outcome;
  outcome.figures = {.figures = {.peak_bytes = memory.peak_bytes,
                                 .step_ns = time.step_ns,
                                 .exposed_ns = time.exposed_ns},
                     .saved_bytes = memory.saved_bytes,
                     .offloaded_bytes = memory.offloaded_bytes};
  outcome.profile = std::move(memory.profile);
  if (s.orders.is_flat()) {
    s.describe_step(order, outcome);
    return outcome;
  }
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
    outcome.recomputed.push_back({s.orders.node(p), s.time.ns(p)});
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

}  // namespace jointer
