#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/edit/edit.h"

namespace jointer {

// Returns the edit that makes the node call a different operator with the same arguments. Error
// (usage), in one sentence: the node is not a call or already calls the operator; the operator is
// unknown, does not accept these arguments, or may return something other than the node does; or
// one of the operators writes to its arguments (rules in replace.cpp).
Result<Edit> replace_call(const Graph& graph, NodeId node, std::string_view target);

// Returns the operators that `replace_call` accepts for the node, sorted.
std::vector<std::string> replacing_operators(const Graph& graph, NodeId node);

}  // namespace jointer
