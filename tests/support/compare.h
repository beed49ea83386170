#pragma once

// Compares two readings of the same graph and names every difference.

#include <map>
#include <string>
#include <vector>

#include "core/graph/graph.h"

namespace jointer::test {

struct Difference {
  std::string kind;    // "target", "edges", "argument", "shape", "alias", ...
  std::string detail;  // the node, and what each graph has
};

// Compares the nodes in order: names, kinds, targets, edges, arguments, policy tags, phases, kinds
// of values, shapes, dtypes, devices, strides, offsets, and which tensors share a storage. If the
// numbers of nodes differ, compares nothing else. `b` is the reading that may lack information: a
// value that only `a` has is of the kind "unknown value" or, inside a tuple, "unknown element", and
// an offset that `b` lacks is an "unknown offset".
std::vector<Difference> compare_graphs(const Graph& a, const Graph& b);

std::map<std::string, std::size_t> count_kinds(const std::vector<Difference>& differences);

}  // namespace jointer::test
