#pragma once

#include "core/graph/graph.h"
#include "core/partition/save_plan.h"
#include "core/policy/tagging.h"

namespace jointer {

// The shortest operator list and rules that make apply_sac save what the plan saves, as far as
// there are any: what they miss, find_misfits says. `joint` has the tags that it was opened with:
// those of FSDP come after the list's, as upstream has it. How is at the top of operator_list.cpp.
SacOptions operator_list(const Graph& joint, const SavePlan& plan);

// The shortest selectors for the memory policy `full`.
std::vector<std::string> selector_list(const Graph& joint, const SavePlan& plan, MemoryPolicy fsdp);

}  // namespace jointer
