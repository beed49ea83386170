#pragma once

#include <string>
#include <unordered_map>

#include "core/edit/difference.h"

namespace jointer {

// By the name of what `difference` removed: the node that does its work now. That is the first one
// that was added, was made from it, and starts a collective if it did, or else calls the same
// operator. What was merged into another node's bucket has none.
std::unordered_map<std::string, NodeId> replacements(const Graph& before, const Graph& after,
                                                     const GraphDifference& difference);

}  // namespace jointer
