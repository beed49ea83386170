#pragma once

// Which nodes a text names, in recipes and on command lines:
//
//   mm_12, backward:mm_12          the node
//   aten.mm.default, aten.mm       every call of the operator, of one of its overloads; a pattern
//   too layers.*.attention::aten.mm    such calls within modules that match, submodules included
//
// Patterns are those of glob_matches. The last two may begin with `forward:` or `backward:`. Module
// paths are ModuleTree's; the part before `::` may be empty: any module.

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// In program order. Error (usage), in one sentence: it selects nothing.
Result<std::vector<NodeId>> select(const Graph& graph, std::string_view selector);

// Whether an operator's name, with or without its overload, matches.
bool operator_matches(std::string_view pattern, const OperatorInfo& op);

// Whether the path, or that of a module around it, matches.
bool module_matches(std::string_view pattern, std::string_view path);

}  // namespace jointer
