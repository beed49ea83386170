#pragma once

#include <string>

#include "views/graph/ladder_layout.h"

namespace jointer::test {

// A step of `layers` identical layers (a norm, attention with wq and wo, a collective), forward and
// backward: 3 saved tensors of 2 KiB per layer, one of them tagged.
Graph layered_graph(int layers);

// Lays out all groups with the layered fallback: no process, no waiting.
views::LadderLayout ladder_layout(const Graph& graph, const views::Ladder& ladder,
                                  const views::LadderExpansion& expansion, double width = 900);

// An expansion with every row open.
views::LadderExpansion all_open(const views::Ladder& ladder);

}  // namespace jointer::test
