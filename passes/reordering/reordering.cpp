#include "passes/reordering/reordering.h"

namespace jointer {

std::vector<Pass> reordering_passes() {
  std::vector<Pass> passes;
  for (auto make :
       {decide_global_ordering_of_comms_pass, enforce_comm_ordering_for_fsdp_pass,
        place_collectives_pass, raise_comms_pass, reorder_communication_preserving_peak_memory_pass,
        reorder_compute_and_comm_for_overlap_pass, reorder_compute_for_overlap_pass,
        reorder_for_peak_memory_pass, schedule_fsdp_comms_to_dense_regions_pass,
        sink_waits_iterative_pass, sink_waits_pass})
    passes.push_back(make());
  return passes;
}

}  // namespace jointer
