#include "views/timeline/timeline_marks.h"

#include <algorithm>

namespace jointer::views {

void TimelineMarks::toggle(std::size_t moment) {
  if (const auto at = std::find(moments_.begin(), moments_.end(), moment); at != moments_.end())
    moments_.erase(at);
  else
    moments_.push_back(moment);
}

void TimelineMarks::carry_over(const Snapshot& before, const Snapshot& now) {
  std::vector<std::size_t> moments;
  for (const std::size_t moment : moments_) {
    if (moment >= before.analysis.memory.profile().size()) continue;
    const NodeId node = before.analysis.memory.node_at(moment);
    const auto step = node && node.index() < now.graph.node_count() && now.graph.is_live(node)
                          ? now.analysis.memory.step_of(node)
                          : std::nullopt;
    if (step) moments.push_back(1 + 2 * *step + (moment % 2 == 0 ? 1 : 0));
  }
  moments_ = std::move(moments);
}

}  // namespace jointer::views
