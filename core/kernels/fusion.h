#pragma once

// Decides which scheduler nodes become one kernel.
//
// Steps (`Scheduler.fuse_nodes`), repeated until nothing changes but at most ten times, and then
// once more, when loops may also be reordered: (1) redundant dependencies that carry no data are
// pruned; (2) nodes that use the same buffer are candidates, each paired with up to 64 that follow
// it; (3) the pairs that can be fused are sorted by score, and fused one after the other if they
// still can be. Cost: the number of pairs times their accesses.
//
// Source: torch._inductor.scheduler (`fuse_nodes`, `fuse_nodes_once`, `get_possible_fusions`,
// `_try_fusion_pairs`) and choices (`FusionScore`, `score_fusion`).

#include <vector>

#include "core/kernels/cancellation_poll.h"
#include "core/kernels/fusion_rules.h"
#include "core/kernels/scheduling.h"

namespace jointer::kernels {

// Returns the nodes that remain, in topological order.
std::vector<NodeIndex> fuse_nodes(Scheduling& scheduling, FusionRules& rules,
                                  CancellationPoll& poll);

}  // namespace jointer::kernels
