#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Until which waits a collective keeps what it reads. Where a pair's forward waits for a collective
// whose unwaited result it hands over, as where a partitioner saves the start and makes the wait
// again, the backward's wait finds it done.
class CollectiveWaits {
 public:
  // Cost: linear in the nodes. Valid for every order of them in which halves stay apart.
  explicit CollectiveWaits(const Graph& graph);

  // The start that keeps its inputs until `wait`; none if it is no wait, or finds it done.
  [[nodiscard]] NodeId ended_by(const Node& wait) const;

 private:
  const Graph& graph_;
  std::vector<bool> is_waited_in_its_half_;  // by start; empty where there is one half
};

}  // namespace jointer
