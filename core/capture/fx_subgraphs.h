#pragma once

// Reads nested classes, which are the subgraphs of higher-order operators. Private to
// core/capture/fx_*.cpp.

#include <cstddef>
#include <vector>

#include "core/capture/fx_outline.h"
#include "core/graph/graph.h"

namespace jointer::fx {

// Sets the part's `constants` to the graphs nested in the class of `graphs[owner]`, if there are
// any, in the form that captures use: each has its own nodes, but its storages are in the part's
// table, which starts at `first_storage`. Throws TextMistake; `number` is then the line of the
// mistake.
void add_subgraphs(Graph& graph, PartId part, const std::vector<GraphText>& graphs,
                   std::size_t owner, std::size_t first_storage, std::size_t& number);

}  // namespace jointer::fx
