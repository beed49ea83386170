#pragma once

#include <vector>

#include "core/graph/graph.h"
#include "core/partition/pair_matches.h"

namespace jointer {

// The calls and constants of a pair that become nodes of its joint graph, in the order in which
// they appear there. The top of joined_order.cpp states the rules.
std::vector<NodeId> joined_order(const Graph& pair, const PairMatches& matches);

}  // namespace jointer
