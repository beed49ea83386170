#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/edit/edit.h"

namespace jointer {

// Returns the edit that makes the node call a different operator with the same arguments. Error
// (usage), in one sentence: the operator is unknown, does not accept these arguments, writes to its
// arguments, or may return something other than the node does (rules in replace.cpp).
Result<Edit> replace_call(const Graph& graph, NodeId node, std::string_view target);

// Returns the operators that `replace_call` accepts for the node, sorted.
std::vector<std::string> replacing_operators(const Graph& graph, NodeId node);

}  // namespace jointer
