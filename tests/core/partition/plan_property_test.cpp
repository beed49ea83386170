// Compares plans with the pairs emitted from them: whatever is decided, the pair is sound, computes
// what the joint graph computes, and has the predicted numbers. On random joint graphs;
// plan_capture_test.cpp uses real ones.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

#include "core/graph/validate.h"
#include "core/partition/pair_order.h"
#include "core/partition/plan_what_if.h"
#include "core/schedule/caching_allocator.h"
#include "tests/support/random_costs.h"
#include "tests/support/random_graph.h"
#include "tests/support/symbolic_run.h"

namespace jointer::test {
namespace {

struct Options {
  MemoryOptions memory;
  SimulationOptions simulation;
  PlanWhatIfOptions plan{.transfers = kTransfers};
};

// The calls of a plan's pair in the order of PairOrders, each with its call in the joint graph.
// Invalid for copies, waits, and the element of a random call that is its generator's state.
std::vector<NodeId> calls_of(const PairOrders& orders, const PairOrder& order) {
  std::vector<NodeId> calls;
  for (const bool backward : {false, true}) {
    const auto& transfers = backward ? order.backward_transfers : order.forward_transfers;
    auto next = transfers.begin();
    std::size_t index = 0;
    NodeId previous;
    for (const Place p : backward ? order.backward : order.forward) {
      if (!orders.has(p, PairOrders::is_call)) continue;
      for (; next != transfers.end() && next->before <= index; ++next) calls.emplace_back();
      const NodeId call = orders.node(p);
      calls.push_back(call == previous ? NodeId{} : call);
      previous = call;
      ++index;
    }
    calls.insert(calls.end(), static_cast<std::size_t>(transfers.end() - next), NodeId{});
  }
  return calls;
}

// The costs of the joint graph's calls, applied to the same calls of the pair.
std::vector<NodeCost> costs_of_pair(const Graph& pair, std::span<const NodeId> calls,
                                    std::span<const NodeCost> costs) {
  std::vector<NodeCost> of_pair(pair.node_count());
  std::size_t next = 0;
  for (const NodeId id : pair.order()) {
    const Node& n = pair.node(id);
    if (n.kind != NodeKind::call || next >= calls.size()) continue;
    const NodeId from = calls[next++];
    if (from)
      of_pair[id.index()] = costs[from.index()];
    else if (pair.is_transfer(n))
      of_pair[id.index()] = kTransfers.of(pair.output_bytes(n));
    else if (!pair.op(n).is_getitem)
      of_pair[id.index()].host_ns = kTransfers.wait_host_ns;
  }
  return of_pair;
}

// One joint graph, whose plan changes.
class Deciding {
 public:
  Deciding(Partition partition, std::vector<NodeCost> costs, const Options& options)
      : partition_(std::move(partition)),
        plan_(partition_.plan),
        costs_(std::move(costs)),
        options_(options),
        orders_(partition_.joint, options.plan.partitioner),
        what_if_(partition_.joint, costs_, std::vector<Flops>(partition_.joint.node_count()),
                 options.memory, options.simulation, options.plan) {}

  [[nodiscard]] const SavePlan& plan() const { return plan_; }
  [[nodiscard]] const Graph& joint() const { return partition_.joint; }
  [[nodiscard]] const PlanWhatIf& what_if() const { return what_if_; }

  // Describes what is wrong with the plan, its pair or its numbers; empty if nothing is.
  [[nodiscard]] std::string complaint() const {
    const auto outcome = what_if_.evaluate(plan_);
    if (!outcome) return outcome.error().message;
    const auto pair = emit_pair(joint(), plan_, options_.plan.partitioner);
    if (!pair) return pair.error().message;
    if (const auto sound = validate(*pair); !sound) return sound.error().message;
    if (symbolic_run(*pair) != symbolic_run(joint())) return "the pair computes something else";
    const auto order = orders_.order(plan_);
    if (!order) return order.error().message;
    const std::vector<NodeId> calls = calls_of(orders_, *order);
    if (std::string text = compare_calls(*pair, calls); !text.empty()) return text;

    // Few and small tensors on two devices: the main device may differ.
    if (pair->main_device() != joint().main_device()) return {};
    const MemoryTimeline memory(*pair, options_.memory);
    if (!std::ranges::equal(outcome->profile, memory.profile())) return "the profile differs";
    if (what_if_.reserved_bytes(plan_) != simulate_reserved(memory, memory.device()).peak_bytes)
      return "reserved bytes differ";
    const std::vector<NodeCost> costs = costs_of_pair(*pair, calls, costs_);
    const Simulation simulation(*pair, costs, options_.simulation);
    const Figures& figures = outcome->figures.figures;
    if (figures.peak_bytes != memory.peak_bytes()) return "the peak differs";
    if (figures.step_ns != simulation.step_ns())
      return fmt::format("a step of {} ns instead of {}", simulation.step_ns(), figures.step_ns);
    if (figures.exposed_ns != simulation.exposed_ns()) return "exposed time differs";
    if (outcome->figures.compute_ns != simulation.compute_ns()) return "compute time differs";
    if (what_if_.figures(plan_) != outcome->figures) return "figures differ from evaluate";
    // What-if on the pair's order gives the same numbers, including copies to the host.
    const Dependencies dependencies(*pair);
    const WhatIf editing(*pair, dependencies, costs, options_.memory, options_.simulation);
    if (editing.figures() != figures) return "what-if of the pair's order differs";
    return {};
  }

  // Changes some of the candidates; returns false if nothing could be decided.
  bool decide(std::mt19937_64& chance) {
    const auto candidates = what_if_.candidates(plan_);
    if (!candidates || candidates->empty()) return false;
    std::vector<NodeId> nodes;
    const std::size_t max = chance() % 3 == 0 ? candidates->size() : 1 + chance() % 4;
    for (std::size_t i = 0; i < max; ++i)
      nodes.push_back((*candidates)[chance() % candidates->size()].node);
    const auto action = static_cast<PlanAction>(chance() % 3);
    const auto change = what_if_.change_all(plan_, nodes, action);
    if (!change) return false;
    plan_ = change->plan;
    return true;
  }

 private:
  [[nodiscard]] std::string compare_calls(const Graph& pair, std::span<const NodeId> calls) const {
    std::size_t next = 0;
    for (const NodeId id : pair.order()) {
      const Node& n = pair.node(id);
      if (n.kind != NodeKind::call) continue;
      if (next >= calls.size()) return fmt::format("{} is an extra call", pair.name(id));
      const NodeId from = calls[next++];
      // A random call that draws the same numbers again is called through a different operator.
      if (from && !pair.op(n).has(OperatorTag::higher_order) && joint().name(from) != pair.name(id))
        return fmt::format("{} is in the place of {}", pair.name(id), joint().name(from));
    }
    return next < calls.size() ? "calls are missing" : "";
  }

  Partition partition_;
  SavePlan plan_;
  std::vector<NodeCost> costs_;
  Options options_;
  PairOrders orders_;
  PlanWhatIf what_if_;
};

RC_GTEST_PROP(PlanProperty, FiguresEqualThoseOfThePair, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  std::mt19937_64 chance(seed);
  Options options;
  if (chance() % 4 == 0) options.plan.partitioner = Partitioner::default_partition;
  // Only functional graphs, whose writes are to inputs, are partitioned.
  Graph graph = random_graph(
      seed, {.calls = 10 + chance() % 60,
             .symbols = chance() % 2 == 0,
             .gradients = chance() % 2 == 0,
             .writes = options.plan.partitioner != Partitioner::min_cut && chance() % 2 == 0,
             .on_cpu = chance() % 4 == 0,
             .input_copies = chance() % 2 == 0});
  if (chance() % 2 == 0) options.memory.optimizer = OptimizerState::adamw;
  if (chance() % 3 == 0) options.memory.collectives = CollectiveLibrary::gloo;
  if (chance() % 4 == 0) options.memory.runs_on = DeviceType::cpu;
  options.simulation.one_communication_stream = chance() % 4 == 0;
  auto partitioned = partition(graph, {.partitioner = options.plan.partitioner});
  RC_PRE(partitioned.has_value());
  std::vector<NodeCost> costs = random_costs(partitioned->joint, seed);
  Deciding deciding(*std::move(partitioned), std::move(costs), options);
  RC_ASSERT(deciding.complaint() == "");
  for (int step = 0; step < 6; ++step)
    if (deciding.decide(chance)) RC_ASSERT(deciding.complaint() == "");
}

}  // namespace
}  // namespace jointer::test
