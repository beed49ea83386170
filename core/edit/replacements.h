#pragma once

#include <string>
#include <unordered_map>

#include "core/edit/difference.h"

namespace jointer {

// Maps the name in edits of each removed node to the added node that replaces it: the first node
// made from it that calls the same operator or, if the removed node started a collective, the first
// that starts one. Nodes merged into another node's bucket have no entry.
std::unordered_map<std::string, NodeId> replacements(const Graph& before, const Graph& after,
                                                     const GraphDifference& difference);

}  // namespace jointer
