#pragma once

#include "core/partition/partition.h"
#include "core/pass/pass.h"

namespace jointer {

// For every value that the backward reads, adds a decision with the reason from the partition; if
// there is none, one that says so.
void decide_by_plan(const Partition& made, PassContext& context);

Pass min_cut_partition_pass();
Pass default_partition_pass();
Pass knapsack_budget_pass();

}  // namespace jointer
