#include "passes/edit_pass.h"

#include <vector>

#include "core/base/json_text.h"

namespace jointer {
namespace {

// The name of a node that an edit inserts.
std::string inserted_name(const std::string& node) {
  const auto json = parse_json(node, "node");
  return json && json->is_object() ? json->value("name", std::string()) : std::string();
}

}  // namespace

Result<void> apply_edit(Graph& graph, const Result<Edit>& edit, PassContext& context) {
  if (!edit) return tl::unexpected(edit.error());
  JOINTER_CHECK(apply(graph, *edit));
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
  if (!edit || edit->changes.empty()) return apply_edit(graph, edit, context);
  const Graph before = graph;
  JOINTER_CHECK(apply_edit(graph, edit, context));
  // A node that came has its name afterwards, one that went had it before.
  const auto decide = [&](const std::string& name, const char* action, std::string_view reason) {
    const Graph& where = graph.find(name) ? graph : before;
    if (const NodeId id = where.find(name)) context.decide(where, id, action, std::string(reason));
  };
  for (const Change& change : edit->changes) {
    if (const auto* insert = std::get_if<InsertNode>(&change))
      decide(inserted_name(insert->node), "added", reasons.inserted);
    else if (const auto* move = std::get_if<MoveNodes>(&change))
      for (const std::string& name : move->nodes) decide(name, "moved", reasons.moved);
    else if (const auto* replace = std::get_if<ReplaceCall>(&change))
      decide(replace->node, "changed", reasons.replaced);
    else if (const auto* remove = std::get_if<RemoveNode>(&change))
      decide(remove->node, "removed", reasons.removed);
  }
  return {};
}

}  // namespace jointer
