#pragma once

// A graph's hash tells whether two graphs differ; its fingerprint tells where. The fingerprint has
// four characters per node: one each for name, target, arguments and value. Given only a recipe, it
// locates the first node that differs from the recorded graph, and what differs in it. docs/hash.md
// defines it; the Python package computes the same.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The fingerprint of one part, in program order.
std::string fingerprint(const Graph& graph, PartId part);

// Describes in one sentence the first difference from the graph with the fingerprint `recorded`:
// "node 12, mm_3: its arguments differ; here they are (%x,%t_1)". nullopt if no difference is found.
std::optional<std::string> first_difference(const Graph& graph, PartId part,
                                            std::string_view recorded);

// Indices of the nodes whose arguments differ from those in the fingerprint `recorded`, given the
// canonical text of a graph with the same nodes. Nodes beyond its end count as different. Misses 1
// difference in 64.
std::vector<std::size_t> different_arguments(std::string_view text, std::string_view recorded);

}  // namespace jointer
