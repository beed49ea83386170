#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"

namespace jointer {

// In what tags and a plan differ, a sentence for each operator: results that the plan keeps and the
// tags do not, and results that it makes again and the tags keep. `tagged`: the plan's graph with
// the tags, so that ids are the same. Results that nothing needs again do not count.
struct TagMisfits {
  std::vector<NodeId> lost;      // kept by the plan alone
  std::vector<NodeId> extra;     // kept by the tags alone
  std::vector<NodeId> partly;    // some of its results are kept by the plan, and some run again
  std::vector<NodeId> untagged;  // the tags leave it to the partitioner
  [[nodiscard]] std::vector<std::string> sentences(const Graph& graph) const;
};
TagMisfits find_misfits(const Graph& tagged, const SavePlan& plan);

}  // namespace jointer
