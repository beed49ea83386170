// The order twice: every node, which gaps count, and the calls alone, which memory and time count.
// A move is a move in both; what it costs beyond that is described in memory_what_if.cpp and
// time_what_if.cpp, and what a preview costs in memory_preview.cpp and time_preview.cpp.

#include "core/schedule/what_if.h"

#include <algorithm>

#include "core/schedule/memory_what_if.h"
#include "core/schedule/movable_order.h"
#include "core/schedule/time_what_if.h"

namespace jointer {
namespace {

std::vector<NodeId> calls_of(const Graph& graph) {
  std::vector<NodeId> calls;
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call) calls.push_back(id);
  return calls;
}

}  // namespace

struct WhatIf::State {
  State(const Graph& of, const Dependencies& needed, std::span<const NodeCost> costs,
        const MemoryOptions& memory_options, const SimulationOptions& simulation_options)
      : graph(of),
        dependencies(needed),
        all({of.order().begin(), of.order().end()}, of.node_count()),
        calls(calls_of(of), of.node_count()),
        memory(of, memory_options, calls),
        time(of, costs, simulation_options, calls) {}

  [[nodiscard]] std::vector<NodeId> in_order(std::span<const NodeId> block) const {
    std::vector<NodeId> sorted(block.begin(), block.end());
    std::sort(sorted.begin(), sorted.end(),
              [&](NodeId a, NodeId b) { return all.place(a) < all.place(b); });
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted;
  }

  // Where the gap-th of the nodes without the block stands now.
  [[nodiscard]] std::size_t place_of_rest(std::span<const NodeId> block, std::size_t gap) const {
    for (const NodeId id : block)
      if (all.place(id) <= gap) ++gap;
    return gap;
  }
  // The gap of `calls` that a gap of `all` is in.
  [[nodiscard]] std::size_t call_gap(std::span<const NodeId> block, std::size_t gap) const {
    for (std::size_t place = place_of_rest(block, gap); place < all.size(); ++place) {
      const NodeId id = all[place];
      if (!calls.has(id)) continue;
      const auto before = std::lower_bound(block.begin(), block.end(), id, [&](NodeId a, NodeId b) {
        return all.place(a) < all.place(b);
      });
      if (before != block.end() && *before == id) continue;
      return calls.place(id) - static_cast<std::size_t>(before - block.begin());
    }
    return calls.size() - block.size();
  }

  const Graph& graph;
  const Dependencies& dependencies;
  MovableOrder all, calls;
  MemoryWhatIf memory;
  TimeWhatIf time;
};

WhatIf::WhatIf(const Graph& graph, const Dependencies& dependencies,
               std::span<const NodeCost> costs, const MemoryOptions& memory,
               const SimulationOptions& simulation)
    : state_(std::make_unique<State>(graph, dependencies, costs, memory, simulation)) {}

WhatIf::~WhatIf() = default;

Figures WhatIf::figures() const {
  const StepTime time = state_->time.time();
  return {.peak_bytes = state_->memory.peak_bytes(),
          .step_ns = time.step_ns,
          .exposed_ns = time.exposed_ns};
}

std::vector<std::int64_t> WhatIf::profile() const {
  return state_->memory.profile();
}

std::span<const NodeId> WhatIf::order() const {
  return state_->all.nodes();
}

Result<LegalRange> WhatIf::range(std::span<const NodeId> block) const {
  return legal_range(state_->graph, state_->dependencies, block, state_->all.places());
}

Result<RangePreview> WhatIf::preview(std::span<const NodeId> block) const {
  JOINTER_TRY(RangePreview preview, range(block).map([](const LegalRange& legal) {
    return RangePreview{.range = legal, .at = {}};
  }));
  const State& s = *state_;
  const LegalRange& range = preview.range;
  const std::vector<NodeId> sorted = s.in_order(block);
  const std::size_t first = s.call_gap(sorted, range.first), last = s.call_gap(sorted, range.last);
  const std::vector<std::int64_t> peaks = s.memory.peaks(s.calls, sorted, first, last);
  const std::vector<StepTime> times = s.time.times(s.calls, sorted, first, last);
  // Gaps beside a node that does not run are one gap of the calls.
  std::size_t at = 0, next = 0;
  while (next < sorted.size() && s.all.place(sorted[next]) < range.first + next) ++next;
  std::size_t place = range.first + next;
  for (std::size_t gap = range.first; gap <= range.last; ++gap) {
    preview.at.push_back({.peak_bytes = peaks[at],
                          .step_ns = times[at].step_ns,
                          .exposed_ns = times[at].exposed_ns});
    while (next < sorted.size() && s.all.place(sorted[next]) == place) ++next, ++place;
    if (gap < range.last && s.calls.has(s.all[place])) ++at;
    ++place;
  }
  return preview;
}

Result<void> WhatIf::move(std::span<const NodeId> block, std::size_t gap) {
  JOINTER_TRY(const LegalRange legal, range(block));
  State& s = *state_;
  if (gap < legal.first || gap > legal.last)
    return fail(Error::Kind::usage, "gap {} is not in the legal range from {} to {}", gap,
                legal.first, legal.last);
  const std::vector<NodeId> sorted = s.in_order(block);
  const std::size_t call_gap = s.call_gap(sorted, gap);
  s.memory.detach(sorted);
  const Stretch changed = s.calls.move(sorted, call_gap);
  s.all.move(sorted, gap);
  s.memory.attach(sorted, s.calls, changed);
  s.time.replay(s.calls, changed);
  return {};
}

BestGaps best_gaps(const RangePreview& preview, std::int64_t peak_limit) {
  const auto distance = [&](std::size_t gap) {
    return gap > preview.range.current ? gap - preview.range.current : preview.range.current - gap;
  };
  // Of those that `is_allowed`, by what `key` gives, then the nearest, then the earliest.
  const auto best = [&](auto is_allowed, auto key) {
    std::optional<std::size_t> found;
    for (std::size_t gap = preview.range.first; gap <= preview.range.last; ++gap) {
      const Figures& at = preview.at[gap - preview.range.first];
      if (!is_allowed(at)) continue;
      if (!found || std::pair(key(at), distance(gap)) <
                        std::pair(key(preview.at[*found - preview.range.first]), distance(*found)))
        found = gap;
    }
    return found;
  };
  const auto always = [](const Figures&) { return true; };
  return {
      .least_exposed = *best(always, [](const Figures& f) { return f.exposed_ns; }),
      .least_step = *best(always, [](const Figures& f) { return f.step_ns; }),
      .least_peak = *best(always, [](const Figures& f) { return f.peak_bytes; }),
      .fastest_within = best([&](const Figures& f) { return f.peak_bytes <= peak_limit; },
                             [](const Figures& f) { return std::pair(f.step_ns, f.exposed_ns); })};
}

}  // namespace jointer
