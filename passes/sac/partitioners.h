#pragma once

#include "core/pass/pass.h"

namespace jointer {

Pass min_cut_partition_pass();
Pass default_partition_pass();
Pass knapsack_budget_pass();

}  // namespace jointer
