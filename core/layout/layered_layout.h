#pragma once

#include "core/layout/layout.h"

namespace jointer {

// A layered drawing (Sugiyama): always succeeds, always the same for the same graph. Cost: see the
// top of layered_layout.cpp; 500 nodes take a few milliseconds.
Layout layered_layout(const LayoutGraph& graph, const LayoutStyle& style = {});

}  // namespace jointer
