#pragma once

#include <string>
#include <unordered_map>

#include "core/edit/difference.h"

namespace jointer {

// Maps the name in edits of each removed node to the added node that replaces it: the first node
// made from it that starts a collective, if the removed node did, or else the first that calls the
// same operator. Nodes merged into another node's bucket have no entry.
std::unordered_map<std::string, NodeId> replacements(const Graph& before, const Graph& after,
                                                     const GraphDifference& difference);

}  // namespace jointer
