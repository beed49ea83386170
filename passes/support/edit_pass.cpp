#include "passes/support/edit_pass.h"

#include <vector>

namespace jointer {

Result<void> apply_edit(Graph& graph, const Result<Edit>& edit, PassContext& context) {
  if (!edit) return tl::unexpected(edit.error());
  if (!edit->changes.empty()) JOINTER_CHECK(apply(graph, *edit));
  for (const std::string& note : edit->notes) context.decide("note", note);
  return {};
}

Result<void> apply_tags(Graph& graph, const Result<Edit>& edit, PassContext& context,
                        const std::function<std::string(NodeId node)>& reason) {
  struct Tag {
    MemoryPolicy policy;
    std::int64_t region;
  };
  std::vector<Tag> was;
  was.reserve(graph.node_count());
  for (std::size_t i = 0; i < graph.node_count(); ++i)
    was.push_back({graph.node(NodeId(i)).policy, graph.node(NodeId(i)).ac_graph_id});
  JOINTER_CHECK(apply_edit(graph, edit, context));
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (was[id.index()].policy == n.policy && was[id.index()].region == n.ac_graph_id) continue;
    const std::string_view tag =
        n.policy == MemoryPolicy::none ? std::string_view("untagged") : to_string(n.policy);
    context.decide(graph, id, std::string(tag), reason(id));
  }
  return {};
}

Result<void> apply_changes(Graph& graph, const Result<Edit>& edit, PassContext& context,
                           const ChangeReasons& reasons) {
  struct Changed {
    NodeId was;  // the node that had this name before the edit
    std::string_view name;
    const char* action;
    std::string_view reason;
  };
  std::vector<Changed> all;
  std::size_t count = graph.node_count();
  const auto note = [&](const std::string& name, const char* action, std::string_view reason) {
    all.push_back({graph.find(name), name, action, reason});
  };
  if (edit)
    for (const Change& change : edit->changes) {
      // An inserted node gets the next id.
      if (std::holds_alternative<InsertNode>(change))
        all.push_back({NodeId(count++), {}, "added", reasons.inserted});
      else if (const auto* move = std::get_if<MoveNodes>(&change))
        for (const std::string& name : move->nodes) note(name, "moved", reasons.moved);
      else if (const auto* replace = std::get_if<ReplaceCall>(&change))
        note(replace->node, "changed", reasons.replaced);
      else if (const auto* remove = std::get_if<RemoveNode>(&change))
        note(remove->node, "removed", reasons.removed);
    }
  JOINTER_CHECK(apply_edit(graph, edit, context));
  for (const Changed& changed : all) {
    // An added node can be found by name only after the edit, a removed node only before it.
    const NodeId now = changed.name.empty() ? NodeId{} : graph.find(changed.name);
    if (const NodeId id = now ? now : changed.was)
      context.decide(graph, id, changed.action, std::string(changed.reason));
  }
  return {};
}

}  // namespace jointer
