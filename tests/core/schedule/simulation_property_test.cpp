// The simulation, compared with its definition as the longest path through events, and the
// invariants of any schedule.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>

#include "core/schedule/simulation.h"
#include "tests/support/random_costs.h"
#include "tests/support/random_graph.h"

namespace jointer::test {
namespace {

// Each time is computed by definition, recursively from the end, and memoized.
class NaiveSimulation {
 public:
  NaiveSimulation(const Graph& graph, const std::vector<NodeCost>& costs, bool one_stream)
      : graph_(graph), costs_(costs), one_stream_(one_stream) {
    for (const NodeId id : graph.order())
      if (graph.node(id).kind == NodeKind::call) calls_.push_back(id);
  }

  std::int64_t step() {
    std::int64_t last = compute_end();
    for (int i = 0; i < count(); ++i)
      if (is_collective(i)) last = std::max(last, end(i));
    return last;
  }
  std::int64_t compute_end() {
    return std::max(compute_after(count() - 1), host_after(count() - 1));
  }
  // Stalls, and streams that end after the last kernel.
  std::int64_t exposed() {
    std::int64_t sum = step() - compute_end();
    for (int i = 0; i < count(); ++i) sum += stall(i);
    return sum;
  }
  std::int64_t end_of(NodeId id) {
    return end(static_cast<int>(std::find(calls_.begin(), calls_.end(), id) - calls_.begin()));
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(calls_.size()); }
  [[nodiscard]] const Node& at(int i) const {
    return graph_.node(calls_[static_cast<std::size_t>(i)]);
  }
  [[nodiscard]] const NodeCost& cost(int i) const {
    return costs_[calls_[static_cast<std::size_t>(i)].index()];
  }
  [[nodiscard]] bool is_collective(int i) const { return graph_.is_collective_start(at(i)); }
  [[nodiscard]] bool is_kernel(int i) const {
    return !is_collective(i) && !graph_.is_wait(at(i)) && cost(i).lane == NodeCost::Lane::compute;
  }
  [[nodiscard]] int collective_of(int wait) const {
    const NodeId start = graph_.collective_of_wait(at(wait));
    const auto found = std::find(calls_.begin(), calls_.end(), start);
    return found == calls_.end() ? -1 : static_cast<int>(found - calls_.begin());
  }

  // The time at which the host has launched call i.
  std::int64_t launched(int i) { return host_after(i - 1) + cost(i).host_ns; }
  std::int64_t host_after(int i) {
    if (i < 0) return 0;
    if (const auto it = host_.find(i); it != host_.end()) return it->second;
    const std::int64_t blocked = is_kernel(i) && cost(i).blocks_host ? compute_after(i) : 0;
    return host_[i] = std::max(launched(i), blocked);
  }
  // The time at which the compute stream has finished call i.
  std::int64_t compute_after(int i) {
    if (i < 0) return 0;
    if (const auto it = compute_.find(i); it != compute_.end()) return it->second;
    std::int64_t result = compute_after(i - 1);
    if (is_kernel(i)) result = std::max(result, launched(i)) + cost(i).ns;
    if (graph_.is_wait(at(i)))
      if (const int c = collective_of(i); c >= 0) result = std::max(result, end(c));
    return compute_[i] = result;
  }
  std::int64_t end(int collective) {
    if (const auto it = end_.find(collective); it != end_.end()) return it->second;
    std::int64_t start = std::max(launched(collective), compute_after(collective - 1));
    for (int i = collective - 1; i >= 0; --i) {
      if (!is_collective(i) || (!one_stream_ && at(i).group != at(collective).group)) continue;
      start = std::max(start, end(i));
      break;
    }
    return end_[collective] = start + cost(collective).ns;
  }
  std::int64_t stall(int i) {
    if (!graph_.is_wait(at(i)) || collective_of(i) < 0) return 0;
    const std::int64_t free = std::max(launched(i), compute_after(i - 1));
    return std::max<std::int64_t>(0, end(collective_of(i)) - free);
  }

  const Graph& graph_;
  const std::vector<NodeCost>& costs_;
  bool one_stream_;
  std::vector<NodeId> calls_;
  std::map<int, std::int64_t> host_, compute_, end_;
};

struct Simulated {
  Graph graph;
  std::vector<NodeCost> costs;
  bool one_stream;

  static Simulated arbitrary() {
    const auto seed = *rc::gen::arbitrary<std::uint64_t>();
    Graph graph = random_graph(seed, {.calls = *rc::gen::inRange<std::size_t>(1, 80),
                                      .pair = *rc::gen::arbitrary<bool>()});
    std::vector<NodeCost> costs = random_costs(graph, seed);
    return {std::move(graph), std::move(costs), *rc::gen::arbitrary<bool>()};
  }
  [[nodiscard]] Simulation run() const {
    return {graph, costs, {.one_communication_stream = one_stream}};
  }
};

RC_GTEST_PROP(SimulationProperty, EqualsItsDefinition, ()) {
  const Simulated s = Simulated::arbitrary();
  const Simulation simulation = s.run();
  NaiveSimulation naive(s.graph, s.costs, s.one_stream);
  RC_ASSERT(simulation.step_ns() == naive.step());
  RC_ASSERT(simulation.exposed_ns() == naive.exposed());
  for (const CollectiveTiming& c : simulation.collectives())
    RC_ASSERT(c.end_ns == naive.end_of(c.start));
}

RC_GTEST_PROP(SimulationProperty, StreamsRunOneCallAtATimeInProgramOrder, ()) {
  const Simulated s = Simulated::arbitrary();
  const Simulation simulation = s.run();
  std::map<std::int32_t, std::int64_t> busy_until, busy;
  std::int64_t host = 0;
  for (const NodeId id : s.graph.order()) {
    if (s.graph.node(id).kind != NodeKind::call) continue;
    const NodeTiming& t = simulation.timing(id);
    RC_ASSERT(t.host_start >= host);
    RC_ASSERT(t.host_end == t.host_start + s.costs[id.index()].host_ns);
    host = t.host_end;
    RC_ASSERT(t.start >= t.host_end);
    RC_ASSERT(t.end >= t.start);
    if (t.stream < 0 || t.end == t.start) continue;
    RC_ASSERT(t.start >= busy_until[t.stream]);
    busy_until[t.stream] = t.end;
    busy[t.stream] += t.end - t.start;
  }
  for (const auto& [stream, time] : busy) RC_ASSERT(time <= simulation.step_ns());
  for (std::size_t i = 0; i < simulation.streams().size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      RC_ASSERT(simulation.streams()[i].name != simulation.streams()[j].name);
}

RC_GTEST_PROP(SimulationProperty, NothingRunsBeforeItsInputsAreReady, ()) {
  const Simulated s = Simulated::arbitrary();
  const Simulation simulation = s.run();
  for (const NodeId id : s.graph.order()) {
    const Node& n = s.graph.node(id);
    const NodeTiming& t = simulation.timing(id);
    if (n.kind != NodeKind::call || t.stream < 0) continue;
    for (const NodeId input : s.graph.inputs(id)) {
      const Node& producer = s.graph.node(input);
      if (producer.kind != NodeKind::call || s.graph.is_collective_start(producer)) continue;
      RC_ASSERT(s.graph.is_wait(n) || t.start >= simulation.timing(input).end);
    }
    if (s.graph.is_wait(n))
      if (const NodeId start = s.graph.collective_of_wait(n))
        RC_ASSERT(t.end >= simulation.timing(start).end);
  }
}

RC_GTEST_PROP(SimulationProperty, TheFiguresAddUp, ()) {
  const Simulated s = Simulated::arbitrary();
  const Simulation simulation = s.run();
  std::int64_t exposed = 0, communication = 0, compute = 0, host = 0;
  std::size_t hidden = 0;
  for (const CollectiveTiming& c : simulation.collectives()) {
    RC_ASSERT(c.exposed_ns >= 0);
    RC_ASSERT(c.ready_ns <= c.start_ns);
    RC_ASSERT((c.reason.kind != ExposureReason::Kind::none) == c.is_exposed());
    RC_ASSERT(!reason_text(s.graph, c).empty() == c.is_exposed());
    exposed += c.exposed_ns;
    communication += c.end_ns - c.start_ns;
    hidden += c.is_exposed() ? 0 : 1;
  }
  for (const NodeId id : s.graph.order()) {
    if (s.costs[id.index()].lane == NodeCost::Lane::compute) compute += s.costs[id.index()].ns;
    host = std::max(host, simulation.timing(id).host_end);
  }
  RC_ASSERT(simulation.exposed_ns() == exposed);
  RC_ASSERT(simulation.communication_ns() == communication);
  RC_ASSERT(simulation.compute_ns() == compute);
  RC_ASSERT(simulation.hidden_count() == hidden);
  RC_ASSERT(simulation.step_ns() >= std::max(compute, host));
  // Compute, stalls and waiting for the CPU, and nothing else.
  RC_ASSERT(simulation.step_ns() == compute + exposed + simulation.host_bound_ns());
}

}  // namespace
}  // namespace jointer::test
