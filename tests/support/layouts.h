#pragma once

#include <string>

#include "core/layout/layout.h"

namespace jointer::test {

// A graph from random numbers: at most `most` nodes, edges from lower to higher ones, each once.
LayoutGraph random_layout_graph(std::uint32_t seed, std::uint32_t most);

// What is wrong with a layout of `graph`: boxes that overlap or lie outside, ranks that are not in
// order, lines that do not join their boxes or lead through others. Empty: nothing.
std::string layout_mistake(const LayoutGraph& graph, const Layout& layout,
                           const LayoutStyle& style);

}  // namespace jointer::test
