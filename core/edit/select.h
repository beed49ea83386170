#pragma once

// Finds the nodes that a selector names, in recipes and on command lines:
//
//   mm_12, backward:mm_12             the node
//   aten.mm.default, aten.mm          all calls of the overload or operator; may be a pattern
//   layers.*.attention::aten.mm       such calls within matching modules and their submodules
//
// Patterns follow glob_matches. In a pair, the last two forms accept the prefixes `forward:` and
// `backward:`. Module paths are those of ModuleTree. An empty part before `::` matches any module.

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Returns the selected nodes in program order. Error (usage), in one sentence: `selector` selects
// nothing.
Result<std::vector<NodeId>> select(const Graph& graph, std::string_view selector);

// True if the pattern matches the module's path or the path of a module that contains it.
bool module_matches(std::string_view pattern, std::string_view path);

// The module path with `*` for each number, such as those of layers and experts.
std::string with_number_wildcards(std::string_view path);

}  // namespace jointer
