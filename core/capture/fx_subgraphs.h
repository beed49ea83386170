#pragma once

// Classes inside a class: the subgraphs of higher-order operators. Private to
// core/capture/fx_*.cpp.

#include <cstddef>
#include <vector>

#include "core/capture/fx_outline.h"
#include "core/graph/graph.h"

namespace jointer::fx {

// Puts the graphs whose class stands in that of `graphs[owner]` into the part's `constants`, as
// captures have them: nodes of their own, storages in the table of the part, which starts at
// `first_storage`. Throws TextMistake about line `number`.
void add_subgraphs(Graph& graph, PartId part, const std::vector<GraphText>& graphs,
                   std::size_t owner, std::size_t first_storage, std::size_t& number);

}  // namespace jointer::fx
