#pragma once

// Why each value is saved or made again: what PlanReason says of a partitioner's choice.

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
  Partitioner partitioner;  // whose backward it is explained by
};

// By node. `cut`: of the minimum cut; null for default_partition.
Result<std::vector<PlanReason>> explain_plan(const Explained& what, const CutSolution* cut);

}  // namespace jointer
