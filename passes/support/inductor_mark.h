#pragma once

#include "core/graph/graph.h"

namespace jointer {

// The member of a node's `custom` by which upstream marks it for regional compilation.
inline constexpr const char* kInductorMark = "compile_with_inductor";

// True if the node's `custom` has this member.
bool is_annotated_for_inductor(const Graph& graph, const Node& node);

}  // namespace jointer
