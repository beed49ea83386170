#include "views/session/document/mapped_range.h"

#include <algorithm>

#include "views/session/document/counterpart.h"

namespace jointer::views {
namespace {

enum class Runs : std::uint8_t { on_compute, elsewhere };

// Returns true for calls that run once in the joint graph and, in the same half, once in the pair.
bool is_carried(const Graph& graph, const Node& node) {
  return node.kind == NodeKind::call && !node.has(Node::recomputed) && !graph.is_wait(node);
}

std::optional<TimeRange> range_of(const Snapshot& from, TimeRange range, const Snapshot& to,
                                  Runs wanted) {
  std::optional<TimeRange> found;
  for (const NodeId id : from.graph.order()) {
    const NodeTiming& here = from.analysis.simulation.timing(id);
    const Runs runs = here.stream == 0 ? Runs::on_compute : Runs::elsewhere;
    const bool is_inside =
        here.start < here.end && here.start < range.end && here.end > range.begin;
    if (!is_inside || runs != wanted || !is_carried(from.graph, from.graph.node(id))) continue;
    const NodeId other = counterpart(from.graph, id, to.graph);
    if (!other || !is_carried(to.graph, to.graph.node(other))) continue;
    const NodeTiming& there = to.analysis.simulation.timing(other);
    // If the range begins or ends within the node, so does the mapped range.
    const std::int64_t before = std::max<std::int64_t>(range.begin - here.start, 0);
    const std::int64_t after = std::max<std::int64_t>(here.end - range.end, 0);
    const TimeRange part{.begin = std::min(there.start + before, there.end),
                         .end = std::max(there.end - after, there.start)};
    if (part.length() <= 0) continue;
    found = found ? TimeRange{.begin = std::min(found->begin, part.begin),
                              .end = std::max(found->end, part.end)}
                  : part;
  }
  return found;
}

}  // namespace

std::optional<TimeRange> mapped_range(const Snapshot& from, TimeRange range, const Snapshot& to) {
  auto mapped = range_of(from, range, to, Runs::on_compute);
  if (!mapped) mapped = range_of(from, range, to, Runs::elsewhere);
  if (!mapped) return std::nullopt;
  if (range.begin <= 0) mapped->begin = 0;
  if (range.end >= from.analysis.simulation.step_ns())
    mapped->end = to.analysis.simulation.step_ns();
  return mapped;
}

}  // namespace jointer::views
