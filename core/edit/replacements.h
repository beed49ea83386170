#pragma once

#include <string>
#include <unordered_map>

#include "core/edit/difference.h"

namespace jointer {

// For each node that `difference` removed, by name: the added node that replaces it. That is the
// first one made from it that starts a collective if the removed node did, or that calls the same
// operator if it did not. Nodes merged into another node's bucket have none.
std::unordered_map<std::string, NodeId> replacements(const Graph& before, const Graph& after,
                                                     const GraphDifference& difference);

}  // namespace jointer
