#pragma once

// What a person reads about each collective: what runs beside it and why not more, which bucket it
// is in and why not in another.

#include "core/pass/pass.h"
#include "passes/bucketing/overlap_plan.h"

namespace jointer {

// Of the plan that was made of `half`; `graph` is the one that came out of it.
void decide_overlaps(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                     std::span<const NodeCost> costs, PassContext& context);
void decide_buckets(const Graph& graph, const OverlapGraph& half, const OverlapPlan& plan,
                    PassContext& context);

// "mm_3, mm_4 and 5 more".
std::string names_of(const Graph& graph, std::span<const NodeId> nodes);

}  // namespace jointer
