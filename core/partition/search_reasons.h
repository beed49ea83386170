#pragma once

// Explains the decisions in a plan that a search within a limit found.

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/partition/partition.h"
#include "core/partition/plan_what_if.h"

namespace jointer {

// Returns the reasons, indexed by node id: for saved inputs, and for the candidates of the plan
// (PlanWhatIf::candidates). A candidate whose policy agrees with the plan is explained by the
// policy, every other one by the search. `policies`: the user's, indexed by node id; may be empty.
// `found_by`: a phrase that names what chose the plan, such as "the search for a peak of at most
// 40GiB" or "torch's budget 0.5". Error (usage): same as emit_pair.
Result<std::vector<PlanReason>> search_reasons(const PlanWhatIf& what_if, const SavePlan& plan,
                                               std::span<const MemoryPolicy> policies,
                                               const std::string& found_by);

}  // namespace jointer
