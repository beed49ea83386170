#include "passes/bucketing/group_timeline.h"

namespace jointer {

GroupTimeline::GroupTimeline(const OverlapGraph& graph, const OverlapSchedule& schedule,
                             std::uint32_t group, AugmentedGraph& augmented) {
  std::vector<bool> hides(graph.size(), false);
  for (const Place p : schedule.order) {
    bool is_compute = false;
    if (graph.start_of[p] >= 0) {
      const auto c = static_cast<std::size_t>(graph.start_of[p]);
      if (graph.collectives[c].group != group) continue;
      for (const Place by : schedule.fates[c].hidden_by) hides[by] = true;
    } else if (graph.wait_of[p] >= 0) {
      const auto c = static_cast<std::size_t>(graph.wait_of[p]);
      if (graph.collectives[c].group != group) {
        if (!hides[p]) continue;
        is_compute = true;
      }
    } else {
      if (!graph.is_compute[p] && !hides[p]) continue;
      is_compute = true;
    }
    const auto number = static_cast<std::uint32_t>(events_.size());
    events_.push_back({.place = p, .is_compute = is_compute, .position = number});
    if (number == 0) continue;
    events_[number].previous = number - 1;
    events_[number - 1].next = number;
    augmented.add(p, events_[number - 1].place);
  }
}

GroupTimeline::Neighbors GroupTimeline::remove(std::uint32_t event, Place place,
                                               AugmentedGraph& augmented) {
  constexpr auto kNone = TimelineEvent::kNone;
  TimelineEvent& e = events_[event];
  const Neighbors between{e.previous, e.next};
  if (e.previous != kNone) events_[e.previous].next = e.next;
  if (e.next != kNone) events_[e.next].previous = e.previous;
  e.previous = e.next = kNone;
  if (between.previous != kNone) augmented.remove(place, events_[between.previous].place);
  if (between.next != kNone) augmented.remove(events_[between.next].place, place);
  if (between.previous != kNone && between.next != kNone)
    augmented.add(events_[between.next].place, events_[between.previous].place);
  return between;
}

void GroupTimeline::restore(std::uint32_t event, Place place, Neighbors between,
                            AugmentedGraph& augmented) {
  constexpr auto kNone = TimelineEvent::kNone;
  TimelineEvent& e = events_[event];
  const bool has_previous = between.previous != kNone, has_next = between.next != kNone;
  if (has_previous) events_[between.previous].next = event;
  if (has_next) events_[between.next].previous = event;
  e.previous = between.previous;
  e.next = between.next;
  if (has_previous) augmented.add(place, events_[between.previous].place);
  if (has_next && !has_previous) augmented.add(events_[between.next].place, place);
  if (has_previous && has_next)
    augmented.remove(events_[between.next].place, events_[between.previous].place);
}

}  // namespace jointer
