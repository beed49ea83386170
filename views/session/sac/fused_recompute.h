#pragma once

// The cost of recomputing a value if Inductor fuses the recomputation into the kernels that read
// the value, as torch's min-cut partitioner assumes. fused_recompute.cpp describes the rule.

#include <cstdint>
#include <optional>
#include <vector>

#include "views/session/kernels/snapshot_kernels.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

// The costs by tensor of the state, in nanoseconds; nullopt if no call computes the tensor, if the
// recomputation does not fuse, if nothing in the backward reads the tensor, or if the device's
// bandwidth is unknown. All costs are nullopt if `kernels` and the state have different snapshots:
// after an edit, the new kernels arrive later than the new state.
using FusedCosts = std::vector<std::optional<std::int64_t>>;
FusedCosts fused_recompute_ns(const SacState& state, const SnapshotKernels& kernels);

}  // namespace jointer::views
