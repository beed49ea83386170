#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for expert parallelism. Together, they overlap token exchanges with compute.
std::vector<Pass> ep_overlap_passes();

Pass concretize_ep_chunk_symbolic_shapes_pass();
Pass ep_overlap_chunk_pass();
Pass ep_overlap_schedule_pass();
// Performs the checks of ep_overlap_schedule, but changes nothing.
Pass ep_overlap_validate_pass();
Pass isolate_ep_process_group_pass();
Pass populate_chunk_dim_metadata_pass();

}  // namespace jointer
