#include "views/session/document/marks.h"

#include <algorithm>
#include <optional>

#include "core/edit/half_name.h"

namespace jointer::views {
namespace {

MarkedMoment mark_at(const Snapshot& shown, std::size_t moment) {
  const NodeId node = shown.analysis.memory.node_at(moment);
  if (!node) return {};
  return {.node = edit_name(shown.graph, node),
          .is_after_release = MemoryTimeline::is_after_frees(moment)};
}

std::optional<std::size_t> moment_of(const Snapshot& shown, const MarkedMoment& mark) {
  if (mark.node.empty()) return 0;
  NodeId node = shown.graph.find(mark.node);
  // The mark may have been made in the pair of this joint graph.
  if (!node && !shown.graph.is_pair()) node = shown.graph.find(split_half(mark.node).name);
  return node ? shown.analysis.memory.point_of(node, mark.is_after_release) : std::nullopt;
}

}  // namespace

void Marks::toggle(const Snapshot& shown, std::size_t moment) {
  const auto is_here = [&](const MarkedMoment& mark) { return moment_of(shown, mark) == moment; };
  if (std::erase_if(marks_, is_here) == 0) marks_.push_back(mark_at(shown, moment));
  emit changed();
}

std::vector<std::size_t> Marks::moments(const Snapshot& shown) const {
  std::vector<std::size_t> moments;
  for (const MarkedMoment& mark : marks_)
    if (const auto moment = moment_of(shown, mark)) moments.push_back(*moment);
  return moments;
}

std::optional<TimeRange> Marks::range_around(const Snapshot& shown, std::size_t moment) const {
  std::vector<std::int64_t> times;
  for (const std::size_t marked : moments(shown))
    times.push_back(shown.estimated_time.position(marked));
  std::ranges::sort(times);
  const auto repeated = std::ranges::unique(times);
  times.erase(repeated.begin(), repeated.end());
  if (times.size() < 2) return std::nullopt;
  const std::int64_t now = shown.estimated_time.position(moment);
  const auto after =
      std::clamp(std::ranges::upper_bound(times, now), times.begin() + 1, times.end() - 1);
  return TimeRange{.begin = *(after - 1), .end = *after};
}

}  // namespace jointer::views
