#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

// The differences between tags and a plan: calls with results that only one of the two saves.
// Results that neither a recomputed call nor a backward call needs do not count. `tagged`: the
// plan's graph with the tags, and with the same ids.
struct TagDifferences {
  std::vector<NodeId> lost;    // saved only by the plan
  std::vector<NodeId> extra;   // saved only by the tags
  std::vector<NodeId> partly;  // the plan saves some of the call's results and recomputes others
  // The tags leave the decision to the partitioner; a flat training step saves these results if
  // they are read.
  std::vector<NodeId> untagged;
  [[nodiscard]] std::vector<std::string> sentences(const Graph& graph) const;
};
TagDifferences find_tag_differences(const Graph& tagged, const SavePlan& plan);

}  // namespace jointer
