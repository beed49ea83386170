#pragma once

// Reports each collective: what it overlaps with and why not with more, which bucket it is in and
// why not in another.

#include "core/pass/pass.h"
#include "passes/bucketing/overlap_plan.h"

namespace jointer {

// `plan`: the plan of `half`; `graph`: its result.
void decide_overlaps(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                     std::span<const NodeCost> costs, PassContext& context);
void decide_buckets(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                    PassContext& context);

// "mm_3, mm_4 and 5 more".
std::string names_of(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace jointer
