#pragma once

// The collectives of a graph that add the values of more than two ranks. Floating-point addition is
// not associative, and libraries choose the order of the addends by an element's place in the
// message. A sum that is listed for two graphs has the same order in both; other sums may differ in
// their last bits.

#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// One text for each kind of such collective: its operator, reduction, group, and the dtype and
// number of elements of its inputs; for a bucket, also its members in order. Sorted, without
// repetitions.
std::vector<std::string> sums_of_ranks(const Graph& graph);

}  // namespace jointer
