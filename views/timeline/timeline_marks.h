#pragma once

#include <cstddef>
#include <vector>

#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// The moments that the user has marked: points in the memory profile, in the order they were
// marked.
class TimelineMarks {
 public:
  // Marks a moment, or removes its mark.
  void toggle(std::size_t moment);
  // Keeps marks at their nodes when another state of the graph is shown, and drops the marks of
  // nodes that this state does not have.
  void carry_over(const Snapshot& before, const Snapshot& now);

  [[nodiscard]] const std::vector<std::size_t>& moments() const { return moments_; }

 private:
  std::vector<std::size_t> moments_;
};

}  // namespace jointer::views
