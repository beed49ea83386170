#include "passes/ep_overlap/ep_overlap.h"

namespace jointer {

std::vector<Pass> ep_overlap_passes() {
  return {concretize_ep_chunk_symbolic_shapes_pass(),
          ep_overlap_chunk_pass(),
          ep_overlap_schedule_pass(),
          ep_overlap_validate_pass(),
          isolate_ep_process_group_pass(),
          populate_chunk_dim_metadata_pass()};
}

}  // namespace jointer
