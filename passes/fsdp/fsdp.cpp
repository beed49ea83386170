#include "passes/fsdp/fsdp.h"

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
