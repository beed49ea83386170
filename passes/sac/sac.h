#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that tag values as saved, recomputed or offloaded, or remove tags; passes that apply tags;
// partitioners; and a pass that joins a pair again.
std::vector<Pass> sac_passes();

Pass apply_cpu_offload_pass();
Pass apply_sac_pass();
Pass fastest_plan_pass();
Pass join_pass();
Pass remove_tags_pass();
Pass selective_activation_remat_pass();
Pass tag_with_memory_policy_pass();

}  // namespace jointer
