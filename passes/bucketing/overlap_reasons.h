#pragma once

// For each collective, reports the nodes that it overlaps with and why it overlaps with no others,
// and its bucket or why it is in none.

#include "core/pass/pass.h"
#include "passes/bucketing/overlap_plan.h"

namespace jointer {

// `plan`: the plan of `half`; `graph`: the graph that results from the plan.
void decide_overlaps(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                     std::span<const NodeCost> costs, PassContext& context);
void decide_buckets(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                    PassContext& context);

// "mm_3, mm_4 and 5 more".
std::string names_of(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace jointer
