#include "passes/sac/sac.h"

#include "passes/sac/apply_cpu_offload.h"
#include "passes/sac/apply_sac.h"
#include "passes/sac/fastest_plan.h"
#include "passes/sac/join.h"
#include "passes/sac/partitioners.h"
#include "passes/sac/remove_tags.h"
#include "passes/sac/selective_activation_remat.h"
#include "passes/sac/tag_with_memory_policy.h"

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
