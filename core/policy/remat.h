#pragma once

#include "core/base/result.h"
#include "core/edit/edit.h"
#include "core/graph/graph.h"

namespace jointer {

// Upstream's selective_activation_remat for flat training steps: what is tagged to be made again is
// made again in the backward, and its first copy goes where only the backward read it. Without such
// tags there is nothing to change. How, and after whom, is at the top of remat.cpp. Error (usage):
// a tagged call draws random numbers or writes to memory that stays; more than one region of the
// backward needs tagged values; the graph is a pair.
Result<Edit> selective_activation_remat(const Graph& graph);

}  // namespace jointer
