// Computes the totals of a part of the simulated step.
//
// Terms
//   range     the interval [begin, end) of the step's time. A range that ends with the step
//             includes the end, so that the totals of the whole step are those of the graph.
//   exposed   the intervals in which a collective is exposed: the stall of its wait and, in the
//             tail (clocks.h, rule 6), the end of its run.
//
// Rules
//   1. A node is in the range if the interval in which it runs on its stream overlaps the range. A
//      node that takes no time is in the range that contains its start. Placeholders and constants
//      are at the start of the step, and outputs are at the end.
//   2. Device time is the time in which a node runs on its stream, clipped to the range. A wait has
//      none: its stall is exposed time. The FLOPs of a node in the range count in full.
//   3. Exposed time is clipped to the range and counts for the collective.
//   4. A storage is allocated or freed in the range if the memory event is in the range
//      (memory_times.h).
//
// Cost: linear in nodes and storages.

#include "core/schedule/range_figures.h"

#include <algorithm>

#include "core/schedule/memory_times.h"
#include "core/schedule/memory_walk.h"

namespace jointer {

TimeRange whole_step(const Simulation& simulation) {
  return {.begin = 0, .end = simulation.step_ns()};
}

RangeFigures::RangeFigures(const Graph& graph, const Analysis& analysis, TimeRange range)
    : step_ns_(analysis.simulation.step_ns()),
      ns_(graph.node_count(), -1),
      exposed_ns_(graph.node_count(), 0) {
  range_.begin = std::clamp<std::int64_t>(range.begin, 0, step_ns_);
  range_.end = std::clamp(range.end, range_.begin, step_ns_);
  add_nodes(graph, analysis);
  add_exposed(analysis.simulation);
  add_memory(graph, analysis);
  for (const NodeId id : graph.order()) {
    if (!contains(id)) continue;
    ++totals_.nodes;
    if (graph.node(id).has(Node::recomputed)) ++totals_.recomputed;
    totals_.flops += analysis.flops[id.index()].total;
  }
}

std::int64_t RangeFigures::overlap(std::int64_t begin, std::int64_t end) const {
  return std::max<std::int64_t>(std::min(end, range_.end) - std::max(begin, range_.begin), 0);
}

bool RangeFigures::touches(std::int64_t begin, std::int64_t end) const {
  if (begin < end) return overlap(begin, end) > 0;
  return begin >= range_.begin &&
         (begin < range_.end || (begin >= step_ns_ && range_.end == step_ns_));
}

void RangeFigures::add_nodes(const Graph& graph, const Analysis& analysis) {
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) {
      const std::int64_t moment = n.kind == NodeKind::output ? step_ns_ : 0;
      if (touches(moment, moment)) ns_[id.index()] = 0;
      continue;
    }
    const NodeTiming& timing = analysis.simulation.timing(id);
    if (!touches(timing.start, timing.end)) continue;
    const std::int64_t part = graph.is_wait(n) ? 0 : overlap(timing.start, timing.end);
    ns_[id.index()] = part;
    if (timing.stream > 0)
      totals_.communication_ns += part;
    else if (timing.stream == 0)
      totals_.compute_ns += part;
  }
}

void RangeFigures::add_exposed(const Simulation& simulation) {
  for (const CollectiveTiming& c : simulation.collectives()) {
    std::int64_t stall = 0, exposed = 0;
    if (c.wait) {
      const NodeTiming& wait = simulation.timing(c.wait);
      stall = wait.end - wait.start;
      exposed = overlap(wait.start, wait.end);
    }
    exposed += overlap(c.end_ns - (c.exposed_ns - stall), c.end_ns);
    if (exposed == 0) continue;
    exposed_ns_[c.start.index()] = exposed;
    totals_.exposed_ns += exposed;
    ns_[c.start.index()] = std::max<std::int64_t>(ns_[c.start.index()], 0);
  }
}

void RangeFigures::add_memory(const Graph& graph, const Analysis& analysis) {
  const MemoryTimeline& memory = analysis.memory;
  const std::vector<std::int64_t> times = memory_times(graph, memory, analysis.simulation);
  // The first point, for the start of the step, is not an event.
  const auto events = std::span(times).subspan(1);
  const auto index_of = [&](auto at) { return static_cast<std::size_t>(at - events.begin()); };
  first_point_ = index_of(std::ranges::lower_bound(events, range_.begin));
  last_point_ = range_.end == step_ns_ ? events.size()
                                       : index_of(std::ranges::lower_bound(events, range_.end));
  last_point_ = std::max(last_point_, first_point_);

  const auto profile = memory.profile().subspan(first_point_, last_point_ - first_point_ + 1);
  totals_.begin_bytes = profile.front();
  totals_.end_bytes = profile.back();
  totals_.peak_bytes = *std::ranges::max_element(profile);
  for (const Lifetime& l : memory.lifetimes()) {
    const RangeChange change = change_of(l);
    if (change == RangeChange::allocated || change == RangeChange::passing) {
      ++totals_.allocated;
      totals_.allocated_bytes += l.bytes;
    }
    if (change == RangeChange::freed || change == RangeChange::passing) {
      ++totals_.freed;
      totals_.freed_bytes += l.bytes;
    }
  }
}

RangeChange RangeFigures::change_of(const Lifetime& lifetime) const {
  const std::size_t from = begin_point(lifetime.first), until = end_point(lifetime.last);
  if (from > last_point_ || until <= first_point_) return RangeChange::outside;
  const bool is_allocated = from > first_point_, is_freed = until <= last_point_;
  if (is_allocated) return is_freed ? RangeChange::passing : RangeChange::allocated;
  return is_freed ? RangeChange::freed : RangeChange::unchanged;
}

}  // namespace jointer
