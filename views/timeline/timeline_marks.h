#pragma once

#include <cstddef>
#include <vector>

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// The moments that the user has marked: points in the memory profile, in the order of marking.
class TimelineMarks {
 public:
  // Marks a moment, or removes its mark.
  void toggle(std::size_t moment);
  // Keeps marks at their nodes when another state of the graph is shown. Marks of nodes that it
  // does not have are dropped.
  void carry_over(const Snapshot& before, const Snapshot& now);

  [[nodiscard]] const std::vector<std::size_t>& moments() const { return moments_; }

 private:
  std::vector<std::size_t> moments_;
};

}  // namespace jointer::views
