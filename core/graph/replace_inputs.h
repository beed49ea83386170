#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "core/graph/graph.h"

namespace jointer {

// The argument with each node in it replaced by `now(node)`. The argument itself if none changes.
Argument replace_inputs(Graph& graph, const Argument& argument,
                        const std::function<NodeId(NodeId)>& now);

struct CallArguments {
  Argument args, kwargs;
};
// The arguments of `call` with the node that is named first in a pair replaced by the second, for
// all pairs at once. Error (usage), in one sentence: the call does not read one, or there is no
// such node in its half.
Result<CallArguments> replace_inputs(Graph& graph, const Node& call,
                                     std::span<const std::pair<std::string, std::string>> names);

}  // namespace jointer
