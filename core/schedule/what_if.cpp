// Computes the memory and time of an edited order incrementally.
//
// The order is stored twice: with all nodes, for gaps, and with only the calls, for memory and
// time. A move updates both. memory_what_if.cpp and time_what_if.cpp describe the cost of a move;
// memory_preview.cpp and time_preview.cpp describe that of a preview.
//
// A preview of a few gaps moves the block from gap to gap and back, and updates only the times. It
// ends early once the block has settled, that is, once every later gap has the same time and no
// lower peak. A block that allocates nothing settles when everything that it waits for is done and
// its host time has no effect: swapping it with the next call then changes no time, and moving it
// later only extends lifetimes. Each gap costs one move. If the moves would cost more than a
// preview that simulates the whole graph, the latter is used.

#include "core/schedule/what_if.h"

#include <algorithm>

#include "core/schedule/memory_what_if.h"
#include "core/schedule/movable_order.h"
#include "core/schedule/time_what_if.h"

namespace jointer {
namespace {

// The cost of one gap in a walk, relative to the cost per call of a preview of all gaps.
constexpr std::size_t kStepWork = 128;

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
    std::ranges::sort(sorted, [&](NodeId a, NodeId b) { return all.place(a) < all.place(b); });
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    return sorted;
  }

  // The current position of the node after `gap`, that is, of node `gap` in the order without the
  // block.
  [[nodiscard]] std::size_t place_of_rest(std::span<const NodeId> block, std::size_t gap) const {
    for (const NodeId id : block)
      if (all.place(id) <= gap) ++gap;
    return gap;
  }
  // The gap in `calls` that corresponds to a gap in `all`.
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

  // The estimates for the gaps from `first` to `last`, up to the end of `peaks` and `times`. The
  // gaps on either side of a node that is not a call correspond to the same gap in `calls`.
  [[nodiscard]] std::vector<Figures> figures(std::span<const NodeId> block, std::size_t first,
                                             std::size_t last, std::span<const std::int64_t> peaks,
                                             std::span<const StepTime> times) const {
    std::vector<Figures> figures;
    std::size_t at = 0, next = 0;
    while (next < block.size() && all.place(block[next]) < first + next) ++next;
    std::size_t place = first + next;
    for (std::size_t gap = first; gap <= last && at < times.size(); ++gap) {
      figures.push_back({.peak_bytes = peaks[at],
                         .step_ns = times[at].step_ns,
                         .exposed_ns = times[at].exposed_ns});
      while (next < block.size() && all.place(block[next]) == place) ++next, ++place;
      if (gap < last && calls.has(all[place])) ++at;
      ++place;
    }
    return figures;
  }
  // The times with the block in each gap in [first, last] of `calls`, up to the first gap, at or
  // after `home`, from which on they no longer change. Empty if that would take too many moves.
  // Afterwards, every call is back at its original position.
  std::vector<StepTime> walk(std::span<const NodeId> block, std::size_t first, std::size_t home,
                             std::size_t last) {
    const std::size_t max_gaps = calls.size() / kStepWork;
    const bool may_settle = time.may_sleep(block) && !memory.allocates(block);
    if ((may_settle ? home : last) - first >= max_gaps) return {};
    std::vector<std::size_t> places;
    for (const NodeId id : block) places.push_back(calls.place(id));
    std::vector<StepTime> times;
    for (std::size_t gap = first; gap <= last; ++gap) {
      if (times.size() == max_gaps) {
        times.clear();
        break;
      }
      time.replay(calls, calls.move(block, gap));
      times.push_back(time.time());
      if (may_settle && gap >= home && time.sleeps_from_here(calls, block)) break;
    }
    // Move the block back: first as a whole, to the original position of its last call, then each
    // call to its own position.
    Stretch changed = calls.move(block, places.back() + 1 - block.size());
    for (std::size_t i = 0; i < block.size(); ++i) {
      const Stretch more = calls.move(block.subspan(i, 1), places[i]);
      changed = {std::min(changed.first, more.first), std::max(changed.last, more.last)};
    }
    time.replay(calls, changed);
    return times;
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
  preview.at = s.figures(sorted, range.first, range.last, peaks, times);
  return preview;
}

Result<NearPreview> WhatIf::preview_near(std::span<const NodeId> block, std::size_t first,
                                         std::size_t last) {
  JOINTER_TRY(const LegalRange legal, range(block));
  if (first < legal.first || last > legal.last || first > last)
    return fail(Error::Kind::usage, "gaps {} to {} are not in the legal range from {} to {}", first,
                last, legal.first, legal.last);
  State& s = *state_;
  const std::vector<NodeId> sorted = s.in_order(block);
  const std::size_t from = s.call_gap(sorted, first), to = s.call_gap(sorted, last);
  const std::size_t home = std::clamp(s.call_gap(sorted, legal.current), from, to);
  std::vector<StepTime> times = s.walk(sorted, from, home, to);
  if (times.empty()) times = s.time.times(s.calls, sorted, from, to);
  const std::vector<std::int64_t> peaks =
      s.memory.peaks(s.calls, sorted, from, from + times.size() - 1);
  return NearPreview{.first = first, .at = s.figures(sorted, first, last, peaks, times)};
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
  // The gap with the best `key` among those that `is_allowed` accepts. Ties go to the nearest gap,
  // then to the earliest.
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
      .min_exposed = *best(always, [](const Figures& f) { return f.exposed_ns; }),
      .min_peak = *best(always, [](const Figures& f) { return f.peak_bytes; }),
      .fastest_within = best([&](const Figures& f) { return f.peak_bytes <= peak_limit; },
                             [](const Figures& f) { return std::pair(f.step_ns, f.exposed_ns); })};
}

}  // namespace jointer
