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
// Replaces several inputs of `call` at once. Each pair holds the name of an input and the name of
// its replacement. Error (usage): the call does not read the input, or its part of the graph lacks
// the replacement. The message is one sentence.
Result<CallArguments> replace_inputs(Graph& graph, const Node& call,
                                     std::span<const std::pair<std::string, std::string>> names);

}  // namespace jointer
