#pragma once

// The cost of recomputing a value if the compiler fuses its recomputation into its readers, as
// torch's min-cut partitioner assumes. fused_recompute.cpp describes the rule.

#include <cstdint>
#include <optional>
#include <vector>

#include "views/session/kernels/snapshot_kernels.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

// By tensor of the state, in nanoseconds; nullopt if the recomputation does not fuse, or nothing in
// the backward reads the tensor. `kernels`: those of the state's graph; if they are of another
// graph, everything is nullopt.
using FusedCosts = std::vector<std::optional<std::int64_t>>;
FusedCosts fused_recompute_ns(const SacState& state, const SnapshotKernels& kernels);

}  // namespace jointer::views
