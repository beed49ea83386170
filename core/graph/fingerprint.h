#pragma once

// A graph's hash shows whether two graphs differ; its fingerprint shows where. A fingerprint has
// four characters per node, one each for name, target, arguments and value. With it, a recipe alone
// is enough to find the first node that differs from the recorded graph, and to tell what differs.
// docs/hash.md defines the fingerprint; the Python package computes the same.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// Returns the fingerprint of a part, in program order.
std::string fingerprint(const Graph& graph, PartId part);

// Describes in one sentence the first difference from the graph whose fingerprint is `recorded`:
// "node 12, mm_3: the arguments differ; here they are (%x,%t_1)". Returns nullopt if the
// fingerprints are equal.
std::optional<std::string> first_difference(const Graph& graph, PartId part,
                                            std::string_view recorded);

// Returns the indices of the nodes whose arguments differ from those in the fingerprint `recorded`.
// `text` is the canonical text of a graph with the same nodes. Nodes beyond the end of `recorded`
// count as different. One in 64 differences goes undetected.
std::vector<std::size_t> different_arguments(std::string_view text, std::string_view recorded);

}  // namespace jointer
