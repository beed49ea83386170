#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that merge several collectives into one, or move them to separate process groups.
std::vector<Pass> bucketing_passes();

// Starts collectives early to overlap them with compute that does not depend on them, and merges
// similar collectives if that costs no overlap.
Pass autobucketing_reordering();
// Merges neighboring collectives of the same kind, up to a maximum size.
Pass greedy_bucketing_by_mb();
// Moves the all-gathers of a given group, or of every group in which FSDP gathers parameters and
// reduces gradients, to a twin of the group: another process group with the same ranks, which has a
// separate stream.
Pass reassign_to_pg();
// Does the same for every group in which FSDP gathers parameters, except twins.
Pass reassign_collective_pgs();
// Merges FSDP's collectives by transformer block, kind and group, and overlaps them with the
// neighboring block.
Pass transformer_block_bucketing();

}  // namespace jointer
