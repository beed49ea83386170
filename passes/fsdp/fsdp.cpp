#include "passes/fsdp/fsdp.h"

#include "passes/fsdp/dedup_fsdp_reduce_scatter.h"
#include "passes/fsdp/fsdp_reshard_after_fwd.h"
#include "passes/fsdp/reinplace_fsdp_all_gather.h"
#include "passes/fsdp/remove_fsdp2_unsharded_param_graph_input_usage.h"

namespace jointer {

std::vector<Pass> fsdp_passes() {
  return {
      dedup_fsdp_reduce_scatter_pass(),
      fsdp_reshard_after_fwd_pass(),
      reinplace_fsdp_all_gather_pass(),
      remove_fsdp2_unsharded_param_graph_input_usage_pass(),
  };
}

}  // namespace jointer
