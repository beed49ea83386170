#pragma once

// Torch 2.15 moves collectives earlier and waits later where that does not raise the peak, so that
// compute can hide communication. Torch 2.11 does not; versions in between are assumed to do so.
//
// Steps: each collective, in order, moves past the kernels before it, up to one that must run
// before it, another collective, or a swap that would increase the peak. Then each wait, from the
// last, moves past the kernels after it, up to one that must run after it, another wait, or such a
// swap. `shard_dim_alltoall` does not count as a collective.
// Cost: the number of swaps, times the buffers of the two kernels.
//
// Terms: a buffer is freed after its last user. The memory of each step is updated with each swap.
//
// Source: torch._inductor.comms (`simple_overlap` and the functions that it calls). As there, the
// last user of a buffer is not updated when a wait moves.

#include <vector>

#include "core/kernels/memory_order.h"

namespace jointer::kernels {

// Returns the places of the plan in the new order.
std::vector<Place> overlap_order(const MemoryPlan& plan);

}  // namespace jointer::kernels
