#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Replaces each node in the argument with `now(node)`. Returns the same argument if nothing
// changes.
Argument replace_inputs(Graph& graph, const Argument& argument,
                        const std::function<NodeId(NodeId)>& now);

struct CallArguments {
  Argument args, kwargs;
};
// Replaces several inputs of `call` at once: each pair has the name of an input and that of its
// replacement. Error (usage), as one sentence: the call does not read the input, or its half of the
// pair does not have the replacement.
Result<CallArguments> replace_inputs(Graph& graph, const Node& call,
                                     std::span<const std::pair<std::string, std::string>> names);

}  // namespace jointer
