#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Finds the wait until which a collective keeps its inputs. If a pair's forward waits for a
// collective and also saves its unwaited result for backward, as when a partitioner saves the start
// and recomputes the wait, the collective is already complete at the backward's wait.
class CollectiveWaits {
 public:
  // Cost: linear in the nodes. Valid for every order of the nodes in which the halves stay
  // separate.
  explicit CollectiveWaits(const Graph& graph);

  // The start that keeps its inputs until `wait`. None if it is not a wait or the start is already
  // complete.
  [[nodiscard]] NodeId ended_by(const Node& wait) const;

 private:
  const Graph& graph_;
  std::vector<bool> is_waited_in_its_half_;  // indexed by start; empty if there is only one half
};

}  // namespace jointer
