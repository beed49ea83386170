#pragma once

// decide_overlaps reports for each collective which nodes it overlaps with and, if part of it is
// exposed, why it does not overlap with more. decide_buckets reports for each collective with a
// bucket key its bucket, or the reason why it is in none.

#include "core/pass/pass.h"
#include "passes/bucketing/overlap_plan.h"

namespace jointer {

// `plan` is the plan of `half`. decide_overlaps describes `graph`, which results from the plan;
// decide_buckets only names its nodes.
void decide_overlaps(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                     std::span<const NodeCost> costs, PassContext& context);
void decide_buckets(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                    PassContext& context);

// The names as text, such as "mm_3, mm_4, mm_9 and 5 more".
std::string names_of(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace jointer
