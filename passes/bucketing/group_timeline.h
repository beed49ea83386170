#pragma once

// What matters to the stream of one process group, in the order in which it runs: starts, waits and
// the compute that hides them.

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
  // Adds the dependency of each event on the one before it.
  GroupTimeline(const OverlapGraph& graph, const OverlapSchedule& schedule, std::uint32_t group,
                AugmentedGraph& augmented);

  struct Neighbours {
    std::uint32_t previous = TimelineEvent::kNone, next = TimelineEvent::kNone;
  };
  [[nodiscard]] const std::vector<TimelineEvent>& events() const { return events_; }

  // Takes an event out: its neighbours depend on one another then, `place` on neither.
  Neighbours remove(std::uint32_t event, Place place, AugmentedGraph& augmented);
  // Puts it back. As torch does it: between two others, the next one does not depend on it again,
  // which leaves more room for what is tried later.
  void restore(std::uint32_t event, Place place, Neighbours between, AugmentedGraph& augmented);

 private:
  std::vector<TimelineEvent> events_;
};

}  // namespace jointer
