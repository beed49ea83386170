#pragma once

#include <string_view>

#include "core/edit/edit.h"

namespace jointer {

// The node calls another operator with the arguments that it has. Error (usage), in one sentence:
// the operator is not known or does not take these arguments, or what it would return is not known
// to be what the node returns (rules in replace.cpp).
Result<Edit> replace_call(const Graph& graph, NodeId node, std::string_view target);

}  // namespace jointer
