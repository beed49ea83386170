// What-if on real graphs: prints one JSON object with, for each capture,
//   preview   the whole legal range of every collective's start and wait: median, 99th percentile
//             and maximum, in ms of CPU time
//   sunk      with --sunk: the same after every wait was moved as late as possible
//   move      by number of places: time spent on memory and on the simulation, in microseconds
//
//   what_if_benchmark [--sunk] [--every N] CAPTURE...
//
// --every N: previews only each N-th collective.

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/cost/estimator.h"
#include "core/open/open.h"
#include "core/schedule/memory_what_if.h"
#include "core/schedule/time_what_if.h"
#include "core/schedule/what_if.h"
#include "tests/benchmarks/timing.h"

namespace {

using namespace jointer;
using namespace jointer::benchmarks;

template <class Action>
double microseconds(Action action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
      .count();
}

struct Subject {
  Graph graph;
  Dependencies dependencies;
  std::vector<NodeCost> costs;

  explicit Subject(Graph opened)
      : graph(std::move(opened)),
        dependencies(graph),
        costs(estimate_all(graph, **make_estimator({}))) {}
};

std::vector<NodeId> collectives(const Graph& graph) {
  std::vector<NodeId> found;
  for (const NodeId id : graph.order())
    if (const Node& n = graph.node(id); graph.is_collective_start(n) || graph.is_wait(n))
      found.push_back(id);
  return found;
}

std::string preview(const Subject& subject, const WhatIf& what_if, std::size_t every) {
  std::vector<double> times;
  std::size_t gaps = 0;
  const std::vector<NodeId> all = collectives(subject.graph);
  for (std::size_t i = 0; i < all.size(); i += every) {
    const NodeId id = all[i];
    times.push_back(
        milliseconds_of_processor([&] { gaps += what_if.preview(std::span(&id, 1))->at.size(); }));
  }
  return fmt::format(
      R"({{"collectives": {}, "gaps": {}, "median_ms": {:.4f}, "p99_ms": {:.3f}, "largest_ms": {:.3f}}})",
      times.size(), gaps, percentile(times, 0.5), percentile(times, 0.99), percentile(times, 1));
}

void sink_waits(const Subject& subject, WhatIf& what_if) {
  for (const NodeId id : collectives(subject.graph)) {
    if (!subject.graph.is_wait(subject.graph.node(id))) continue;
    const std::vector<NodeId> block{id};
    if (const auto range = what_if.range(block)) {
      if (!what_if.move(block, range->last)) std::abort();
    }
  }
}

std::vector<NodeId> calls_of(const Graph& graph) {
  std::vector<NodeId> calls;
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call) calls.push_back(id);
  return calls;
}

// Single calls that can move that far, moved there and back three times.
std::string moves(const Subject& subject, std::size_t distance) {
  const Graph& graph = subject.graph;
  MovableOrder calls(calls_of(graph), graph.node_count());
  MemoryWhatIf memory(graph, {}, calls);
  TimeWhatIf time(graph, subject.costs, {}, calls);
  std::vector<std::pair<NodeId, std::size_t>> candidates;  // and the gap to move to
  // Ranges also count nodes that do not run.
  const std::size_t others = graph.order().size() - calls.size();
  for (const NodeId id : calls.nodes()) {
    const auto range = legal_range(graph, subject.dependencies, std::span(&id, 1));
    const std::size_t place = calls.place(id);
    if (range->last - range->current >= distance + others)
      candidates.emplace_back(id, place + distance);
    if (range->current - range->first >= distance + others)
      candidates.emplace_back(id, place - distance);
  }
  std::mt19937_64 chance(1);
  std::shuffle(candidates.begin(), candidates.end(), chance);
  candidates.resize(std::min<std::size_t>(candidates.size(), 500));
  std::vector<double> memory_times, time_times;
  for (const auto& [id, gap] : candidates) {
    const std::span block(&id, 1);
    const std::size_t home = calls.place(id);
    // As often as during a drag.
    for (const std::size_t to : {gap, home, gap, home, gap, home}) {
      Stretch changed;
      memory_times.push_back(microseconds([&, node = block] {
        memory.detach(node);
        changed = calls.move(node, to);
        memory.attach(node, calls, changed);
      }));
      time_times.push_back(microseconds([&] { time.replay(calls, changed); }));
    }
  }
  return fmt::format(
      R"({{"moves": {}, "memory_us": {:.3f}, "time_us": {:.3f}, "time_p99_us": {:.3f}}})",
      memory_times.size(), percentile(memory_times, 0.5), percentile(time_times, 0.5),
      percentile(time_times, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  bool sunk = false;
  std::size_t every = 1;
  int first = 1;
  for (; first < argc && std::string_view(argv[first]).starts_with("--"); ++first) {
    if (std::string_view(argv[first]) == "--sunk")
      sunk = true;
    else if (first + 1 < argc)
      every = std::max(std::stoul(argv[++first]), 1UL);
  }
  fmt::print("{{");
  for (int i = first; i < argc; ++i) {
    auto graph = open_graph({.path = argv[i]});
    if (!graph) {
      fmt::print(stderr, "{}\n", graph.error().message);
      return 3;
    }
    const Subject subject(*std::move(graph));
    WhatIf what_if(subject.graph, subject.dependencies, subject.costs);
    fmt::print("{}\"{}\": {{\"preview\": {}", i == first ? "" : ", ", argv[i],
               preview(subject, what_if, every));
    if (sunk) {
      sink_waits(subject, what_if);
      fmt::print(", \"sunk\": {}", preview(subject, what_if, every));
    }
    for (const std::size_t distance : {10U, 100U, 1000U})
      fmt::print(", \"move_{}\": {}", distance, moves(subject, distance));
    fmt::print("}}");
  }
  fmt::print("}}\n");
  return 0;
}
