#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/schedule/simulation.h"

namespace jointer {

// Sets the `reason` of every exposed collective in a finished simulation. `queued_after`: indexed
// by collective, the previous collective on the same stream, or -1.
void explain_exposure(const Graph& graph, const Simulation& simulation,
                      std::span<const std::int32_t> queued_after,
                      std::span<CollectiveTiming> collectives);

// The text for a node in a sentence, such as its name or a link to it.
using NodeText = std::function<std::string(NodeId)>;

// The same as reason_text in simulation.h, with `text` for the names of nodes.
std::string reason_text(const CollectiveTiming& collective, const NodeText& text);
// The same, preceded by the kernel time between the collective's start and its wait, if it has a
// wait: "compute between start and wait takes 1.20 ms, the collective 3.40 ms; held by mm_3, ...".
// Cost: linear in the nodes between start and wait.
std::string exposure_text(const Graph& graph, const Simulation& simulation,
                          const CollectiveTiming& collective, const NodeText& text);

}  // namespace jointer
