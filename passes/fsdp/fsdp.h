#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for FSDP's parameter all-gathers and gradient reductions.
std::vector<Pass> fsdp_passes();

Pass dedup_fsdp_reduce_scatter_pass();
Pass fsdp_reshard_after_fwd_pass();
Pass reinplace_fsdp_all_gather_pass();
Pass remove_fsdp2_unsharded_param_graph_input_usage_pass();

}  // namespace jointer
