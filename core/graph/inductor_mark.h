#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// The key in a node's `custom` with which upstream marks the node for regional compilation.
inline constexpr const char* kInductorMark = "compile_with_inductor";

// True if the node's `custom` has this member.
bool is_annotated_for_inductor(const Graph& graph, const Node& node);

// The options for Inductor that the mark contains (`inductor_configs`), as JSON; empty if it
// contains none, nullopt if there is no mark. `custom`: the JSON of Node::custom.
std::optional<std::string> inductor_options(std::string_view custom);

}  // namespace jointer
