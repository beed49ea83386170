#include "views/timeline/timeline_steps.h"

#include <algorithm>
#include <limits>

namespace jointer::views {

NodeId next_in_flow(const Snapshot& s, NodeId current, bool forward) {
  if (!current) return {};
  const std::int32_t index = s.analysis.simulation.collective_of(current);
  if (index >= 0) {
    const CollectiveTiming& c =
        s.analysis.simulation.collectives()[static_cast<std::size_t>(index)];
    if (forward && current == c.start && c.wait) return c.wait;
    if (!forward && current != c.start) return c.start;
  }
  const auto next = forward ? s.users.of(current) : s.graph.inputs(current);
  return next.empty() ? NodeId{} : next.front();
}

NodeId next_in_lane(const TimelineData& data, NodeId current, int direction) {
  const std::int32_t lane = current ? data.lane_of(current) : -1;
  const Lane& items = data.lanes()[lane < 0 ? 1 : static_cast<std::size_t>(lane)];
  if (items.items().empty()) return {};
  std::size_t at = 0;
  if (lane >= 0) {
    at = items.first_beginning_at(data.extent(current).begin);
    const auto last = static_cast<std::ptrdiff_t>(items.items().size()) - 1;
    at = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(at) + direction, 0, last));
  }
  return items.items()[at].node;
}

NodeId next_exposed(const Snapshot& s, NodeId current, int direction) {
  const auto collectives = s.analysis.simulation.collectives();
  const auto position = [&s](NodeId node) {
    return static_cast<std::int64_t>(s.graph.position(node));
  };
  const CollectiveTiming* best = nullptr;
  std::int64_t from = direction > 0 ? -1 : std::numeric_limits<std::int64_t>::max();
  if (current) {
    const std::int32_t index = s.analysis.simulation.collective_of(current);
    from = position(index < 0 ? current : collectives[static_cast<std::size_t>(index)].start);
  }
  for (const CollectiveTiming& c : collectives) {
    if (!c.is_exposed()) continue;
    const std::int64_t at = position(c.start);
    const bool further = direction > 0 ? at > from : at < from;
    const bool nearer = best == nullptr ||
                        (direction > 0 ? at < position(best->start) : at > position(best->start));
    if (further && nearer) best = &c;
  }
  return best == nullptr ? NodeId{} : best->start;
}

}  // namespace jointer::views
