#include "core/graph/replace_inputs.h"

#include <unordered_map>
#include <unordered_set>
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

Result<CallArguments> replace_inputs(Graph& graph, const Node& call,
                                     std::span<const std::pair<std::string, std::string>> names) {
  const auto inputs = graph.inputs(call);
  const std::unordered_set<NodeId> reads(inputs.begin(), inputs.end());
  std::unordered_map<NodeId, NodeId> by;
  for (const auto& [old_name, new_name] : names) {
    const NodeId old_input = graph.find(call.part, old_name);
    if (!old_input || !reads.contains(old_input))
      return fail(Error::Kind::usage, "{} does not read {}, which {} is to replace",
                  graph.text(call.name), old_name, new_name);
    const NodeId new_input = graph.find(call.part, new_name);
    if (!new_input)
      return fail(Error::Kind::usage, "there is no node {} to replace {}", new_name, old_name);
    by[old_input] = new_input;
  }
  const auto now = [&](NodeId input) {
    const auto it = by.find(input);
    return it == by.end() ? input : it->second;
  };
  return CallArguments{.args = replace_inputs(graph, call.args, now),
                       .kwargs = replace_inputs(graph, call.kwargs, now)};
}

}  // namespace jointer
