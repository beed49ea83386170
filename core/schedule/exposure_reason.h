#pragma once

#include <span>

#include "core/schedule/simulation.h"

namespace jointer {

// Fills `reason` of every collective from a finished simulation. `queued_behind`: for each
// collective the one before it on its stream, or -1.
void explain_exposure(const Graph& graph, const Simulation& simulation,
                      std::span<const std::int32_t> queued_behind,
                      std::span<CollectiveTiming> collectives);

}  // namespace jointer
