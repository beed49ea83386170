#include "core/graph/replace_inputs.h"

#include <algorithm>
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
    // For these kinds, `index` identifies the node or the first child.
    const bool may_change = copy.kind == Argument::Kind::node || copy.has_children();
    changes = changes || (may_change && replaced.index != copy.index);
    copy = replaced;
  }
  return changes ? graph.make_children(argument.kind, copies) : argument;
}

Result<CallArguments> replace_inputs(Graph& graph, const Node& call,
                                     std::span<const std::pair<std::string, std::string>> names) {
  const auto inputs = graph.inputs(call);
  std::vector<NodeId> reads(inputs.begin(), inputs.end());
  std::ranges::sort(reads);
  std::vector<NodeId> now(reads);  // indexed like `reads`
  const auto index_of = [&](NodeId input) {
    return static_cast<std::size_t>(std::ranges::lower_bound(reads, input) - reads.begin());
  };
  for (const auto& [old_name, new_name] : names) {
    const NodeId old_input = graph.find(call.part, old_name);
    const std::size_t index = old_input ? index_of(old_input) : reads.size();
    if (index == reads.size() || reads[index] != old_input)
      return fail(Error::Kind::usage, "{} does not read {}, so {} cannot replace it",
                  graph.text(call.name), old_name, new_name);
    const NodeId new_input = graph.find(call.part, new_name);
    if (!new_input)
      return fail(Error::Kind::usage, "there is no node {} to replace {}", new_name, old_name);
    now[index] = new_input;
  }
  const auto replaced = [&](NodeId input) { return now[index_of(input)]; };
  return CallArguments{.args = replace_inputs(graph, call.args, replaced),
                       .kwargs = replace_inputs(graph, call.kwargs, replaced)};
}

}  // namespace jointer
