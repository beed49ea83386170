#include "core/graph/replace_inputs.h"

#include <vector>

namespace jointer {

Argument replace_inputs(Graph& graph, const Argument& argument,
                        const std::function<NodeId(NodeId)>& now) {
  if (argument.kind == Argument::Kind::node)
    return argument.node() ? Argument::of_node(now(argument.node())) : argument;
  if (!argument.has_children()) return argument;
  const auto children = graph.children(argument);
  std::vector<Argument> copies(children.begin(), children.end());
  bool changes = false;
  for (Argument& copy : copies) {
    const Argument replaced = replace_inputs(graph, copy, now);
    // Each kind has its node or its first child in `index`.
    const bool may_change = copy.kind == Argument::Kind::node || copy.has_children();
    changes = changes || (may_change && replaced.index != copy.index);
    copy = replaced;
  }
  return changes ? graph.make_children(argument.kind, copies) : argument;
}

}  // namespace jointer
