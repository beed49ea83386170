#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// Replaces each node in the argument with `now(node)`. Returns the argument itself if none changes.
Argument replace_inputs(Graph& graph, const Argument& argument,
                        const std::function<NodeId(NodeId)>& now);

struct CallArguments {
  Argument args, kwargs;
};
// Replaces inputs of `call`, all at once: each pair names an input and its replacement. Error
// (usage), in one sentence: the call does not read the input, or its half has no such replacement.
Result<CallArguments> replace_inputs(Graph& graph, const Node& call,
                                     std::span<const std::pair<std::string, std::string>> names);

}  // namespace jointer
