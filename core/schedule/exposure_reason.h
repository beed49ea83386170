#pragma once

#include <span>

#include "core/schedule/simulation.h"

namespace jointer {

// Sets the `reason` of every exposed collective of a finished simulation. `queued_after`: the
// previous collective on the same stream, indexed by collective, or -1.
void explain_exposure(const Graph& graph, const Simulation& simulation,
                      std::span<const std::int32_t> queued_after,
                      std::span<CollectiveTiming> collectives);

}  // namespace jointer
