#include "passes/sac/sac.h"

#include "passes/sac/partitioners.h"

namespace jointer {

std::vector<Pass> sac_passes() {
  return {
      apply_cpu_offload_pass(),      apply_sac_pass(),   default_partition_pass(),
      fastest_plan_pass(),           join_pass(),        knapsack_budget_pass(),
      min_cut_partition_pass(),      remove_tags_pass(), selective_activation_remat_pass(),
      tag_with_memory_policy_pass(),
  };
}

}  // namespace jointer
