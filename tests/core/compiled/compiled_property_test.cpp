// Every execution of a random graph adds up, with collectives that wait late, never or twice,
// writes in place, and marks at random calls.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/compiled/compiled_lives.h"
#include "core/compiled/compiled_step.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

Graph any_graph() {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  Graph graph = random_graph(
      seed, {.pair = *rc::gen::arbitrary<bool>(), .writes = *rc::gen::arbitrary<bool>()});
  const StringId mark = graph.intern(R"({"compile_with_inductor":{}})");
  std::uint64_t state = seed;
  for (const NodeId id : std::vector(graph.order().begin(), graph.order().end())) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    if (state >> 62U != 0) graph.node(id).custom = mark;
  }
  return graph;
}

Analysis analyzed(const Graph& graph, Execution execution) {
  return analyze_step(graph, {.memory = {},
                              .estimator = {.device = "h100"},
                              .simulation = {},
                              .execution = execution})
      .value();
}

RC_GTEST_PROP(CompiledStepProperty, StepsAddUp, ()) {
  const Graph graph = any_graph();
  for (const Execution execution :
       {Execution::regional, Execution::inductor, Execution::cudagraph}) {
    const Analysis analysis = analyzed(graph, execution);
    const Simulation& step = analysis.simulation;
    std::int64_t kernels = 0, exposed = 0;
    for (const NodeId id : graph.order())
      if (analysis.costs[id.index()].lane == NodeCost::Lane::compute)
        kernels += analysis.costs[id.index()].ns;
    for (const CollectiveTiming& each : step.collectives()) exposed += each.exposed_ns;
    RC_ASSERT(step.compute_ns() == kernels);
    RC_ASSERT(step.exposed_ns() == exposed);
    RC_ASSERT(step.step_ns() == kernels + exposed + step.host_bound_ns());
    const MemoryTimeline& memory = analysis.memory;
    std::int64_t at_peak = 0;
    for (const std::int64_t bytes : memory.at(memory.peak_index())) at_peak += bytes;
    RC_ASSERT(at_peak == memory.peak_bytes());
    for (const std::int64_t bytes : memory.profile()) RC_ASSERT(bytes >= 0);
    for (const Lifetime& life : memory.lifetimes()) RC_ASSERT(static_cast<bool>(life.producer));
    for (const NodeId id : graph.order())
      RC_ASSERT(memory.step_of(id).has_value() == (graph.node(id).kind == NodeKind::call));
  }
}

RC_GTEST_PROP(CompiledStepProperty, PeakIsThatOfTheKernels, ()) {
  const Graph graph = any_graph();
  const Analysis analysis = analyzed(graph, Execution::inductor);
  const MemoryTimeline operators(graph);
  std::int64_t peak = 0;
  for (const CompiledPart& part : analysis.compiled->parts)
    peak = std::max(peak, compiled_peak(graph, operators, part));
  RC_ASSERT(analysis.memory.peak_bytes() == peak);
}

// A region runs as a whole in place of its last call, and everything else keeps its order.
RC_GTEST_PROP(CompiledStepProperty, RegionsAreOfMarkedCallsInOrder, ()) {
  const Graph graph = any_graph();
  std::vector<bool> is_in_region(graph.node_count());
  NodeId last;
  for (const Region& region : find_regions(graph)) {
    RC_ASSERT(!region.calls.empty());
    for (std::size_t i = 0; i < region.calls.size(); ++i) {
      const NodeId id = region.calls[i];
      RC_ASSERT(!is_in_region[id.index()]);
      is_in_region[id.index()] = true;
      RC_ASSERT(static_cast<bool>(graph.node(id).custom) || graph.op(graph.node(id)).is_getitem);
      RC_ASSERT(graph.node(id).part == graph.node(region.calls.front()).part);
      if (i > 0) RC_ASSERT(graph.position(region.calls[i - 1]) < graph.position(id));
    }
    if (last) RC_ASSERT(graph.position(last) < graph.position(region.calls.front()));
    last = region.calls.back();
    // Nothing between its calls reads a result.
    for (std::size_t at = graph.position(region.calls.front()); at < graph.position(last); ++at) {
      const NodeId id = graph.order()[at];
      if (std::ranges::find(region.calls, id) != region.calls.end()) continue;
      for (const NodeId input : graph.inputs(id))
        RC_ASSERT(std::ranges::find(region.calls, input) == region.calls.end());
    }
  }
}

}  // namespace
}  // namespace jointer::test
