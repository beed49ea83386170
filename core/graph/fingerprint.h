#pragma once

// A graph's hash says that two graphs differ; the fingerprint also says where. Four characters a
// node, one each for its name, target, arguments and value, so that who has only a recipe at hand
// can name the first node that is not as recorded, and what about it. docs/hash.md defines it; the
// Python package computes the same.

#include <optional>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// Of one part, in program order.
std::string fingerprint(const Graph& graph, PartId part);

// What first differs from the graph that had this fingerprint, in one sentence: "node 12, mm_3: its
// arguments are others, here (%x,%t_1)". Nothing if no difference is seen.
std::optional<std::string> first_difference(const Graph& graph, PartId part,
                                            std::string_view recorded);

}  // namespace jointer
