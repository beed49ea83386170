#pragma once

#include <string>

#include "core/layout/layout.h"

namespace jointer::test {

// A random graph with at most `most` nodes; edges lead from lower to higher nodes, without
// duplicates.
LayoutGraph random_layout_graph(std::uint32_t seed, std::uint32_t max);

// Describes the first fault in a layout of `graph`: boxes that overlap or lie outside, ranks that
// are out of order, lines that do not join their boxes, straight lines that lead through a box.
// Empty if there is none.
std::string layout_mistake(const LayoutGraph& graph, const Layout& layout,
                           const LayoutStyle& style);

}  // namespace jointer::test
