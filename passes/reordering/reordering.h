#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that reorder nodes, or report the order of collectives. The comment at the top of each
// source file describes its pass.
std::vector<Pass> reordering_passes();

Pass sink_waits_pass();                   // schedule_for_comm.cpp
Pass raise_comms_pass();                  // schedule_for_comm.cpp
Pass reorder_compute_for_overlap_pass();  // schedule_for_comm.cpp
Pass reorder_communication_preserving_peak_memory_pass();
Pass sink_waits_iterative_pass();
Pass decide_global_ordering_of_comms_pass();
Pass enforce_comm_ordering_for_fsdp_pass();
Pass reorder_for_peak_memory_pass();
Pass reorder_compute_and_comm_for_overlap_pass();
Pass place_collectives_pass();
Pass schedule_fsdp_comms_to_dense_regions_pass();

}  // namespace jointer
