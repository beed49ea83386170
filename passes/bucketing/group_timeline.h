#pragma once

// The events of one process group in the order of a schedule: its starts and waits, compute, and
// the waits of other groups that hide its collectives.

#include <cstdint>
#include <vector>

#include "passes/bucketing/augmented_graph.h"
#include "passes/bucketing/overlap_scheduler.h"

namespace jointer {

struct TimelineEvent {
  static constexpr std::uint32_t kNone = 0xffffffff;
  Place place = kNoPlace;
  bool is_compute = false;
  std::uint32_t position = 0;
  std::uint32_t previous = kNone, next = kNone;
};

class GroupTimeline {
 public:
  // Makes each event depend on the previous one.
  GroupTimeline(const OverlapGraph& graph, const OverlapSchedule& schedule, std::uint32_t group,
                AugmentedGraph& augmented);

  struct Neighbors {
    std::uint32_t previous = TimelineEvent::kNone, next = TimelineEvent::kNone;
  };
  [[nodiscard]] const std::vector<TimelineEvent>& events() const { return events_; }

  // Removes the event, whose node is `place`. The next event then depends on the previous event
  // instead of on `place`.
  Neighbors remove(std::uint32_t event, Place place, AugmentedGraph& augmented);
  // Restores the event. If it has two neighbors, the next event then depends on neither it nor the
  // previous event, as in torch, which leaves more freedom for later trials.
  void restore(std::uint32_t event, Place place, Neighbors between, AugmentedGraph& augmented);

 private:
  std::vector<TimelineEvent> events_;
};

}  // namespace jointer
