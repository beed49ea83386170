#pragma once

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"
#include "core/policy/tagging.h"

namespace jointer {

// The shortest list of operators and rules with which apply_sac saves what the plan saves, as far
// as possible; find_tag_differences reports the differences. `joint` has its original tags, because
// FSDP's tags are applied after those of the list, as in upstream. The algorithm is at the top of
// operator_list.cpp.
SacOptions operator_list(const Graph& joint, const SavePlan& plan);

// The shortest list of selectors for the memory policy `full`.
std::vector<std::string> selector_list(const Graph& joint, const SavePlan& plan, MemoryPolicy fsdp);

}  // namespace jointer
