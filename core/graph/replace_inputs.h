#pragma once

#include <algorithm>
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

// Replaces each node that `reader` reads with `now(node)`. Returns false if nothing changes.
template <class Now>
bool redirect_inputs(Graph& graph, NodeId reader, const Now& now) {
  if (std::ranges::all_of(graph.inputs(reader), [&](NodeId input) { return now(input) == input; }))
    return false;
  const Argument args = replace_inputs(graph, graph.node(reader).args, now);
  const Argument kwargs = replace_inputs(graph, graph.node(reader).kwargs, now);
  graph.node(reader).args = args;
  graph.node(reader).kwargs = kwargs;
  graph.refresh(reader);
  return true;
}

struct CallArguments {
  Argument args, kwargs;
};
// Replaces several inputs of `call` at once. Each pair holds the name of an input and the name of
// its replacement. Error (usage): the call does not read the input, or its part of the graph lacks
// the replacement. The message is one sentence.
Result<CallArguments> replace_inputs(Graph& graph, const Node& call,
                                     std::span<const std::pair<std::string, std::string>> names);

}  // namespace jointer
