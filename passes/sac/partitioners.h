#pragma once

#include "core/partition/partition.h"
#include "core/pass/pass.h"

namespace jointer {

// Adds a decision, with the partition's reason, for every value that the backward reads.
void decide_by_plan(const Partition& made, PassContext& context);

Pass min_cut_partition_pass();
Pass default_partition_pass();
Pass knapsack_budget_pass();

}  // namespace jointer
