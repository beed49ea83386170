#pragma once

// Explains why a partitioner saves or recomputes each value.

#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/joint_parts.h"
#include "core/partition/min_cut.h"
#include "core/partition/partition.h"
#include "core/partition/recompute_tags.h"

namespace jointer {

struct Explained {
  const Graph& joint;
  const JointParts& parts;
  const std::vector<TagSource>& tags;
  const SavePlan& plan;
  Partitioner partitioner;  // the one whose backward the reasons describe
};

// Returns the reasons, indexed by node id; of kind none for nodes that are neither saved nor
// recomputed. `cut`: the minimum cut; null if no cut chose the values.
// Error (usage): same as extract_half.
Result<std::vector<PlanReason>> explain_plan(const Explained& what, const CutSolution* cut);

}  // namespace jointer
