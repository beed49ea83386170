#include "core/edit/call_edit.h"

#include "core/edit/merge.h"
#include "core/edit/replace.h"

namespace jointer {
namespace {

// The collectives of `graph` that the edit removes.
std::vector<NodeId> removed_starts(const Graph& graph, const Edit& edit) {
  std::vector<NodeId> starts;
  for (const Change& change : edit.changes) {
    const auto* remove = std::get_if<RemoveNode>(&change);
    const NodeId node = remove == nullptr ? NodeId() : graph.find(remove->node);
    if (node && graph.is_collective_start(graph.node(node))) starts.push_back(node);
  }
  return starts;
}

// The only merge, split or replacement that the edit can be. call_edit_of makes it, and compares it
// with the edit.
CallEdit candidate(const Graph& graph, const Edit& edit) {
  if (edit.changes.size() == 1)
    if (const auto* replace = std::get_if<ReplaceCall>(&edit.changes.front()))
      if (const NodeId node = graph.find(replace->node); node && replace->target)
        return {.kind = CallEdit::Kind::replace, .nodes = {node}, .target = *replace->target};
  std::vector<NodeId> starts = removed_starts(graph, edit);
  const CallEdit::Kind kind = starts.size() > 1 ? CallEdit::Kind::merge : CallEdit::Kind::split;
  return {.kind = kind, .nodes = std::move(starts), .target = {}};
}

}  // namespace

Result<Edit> made_for(const CallEdit& call_edit, const Graph& graph,
                      std::span<const NodeId> nodes) {
  switch (call_edit.kind) {
    case CallEdit::Kind::merge:
      return merge_collectives(graph, nodes);
    case CallEdit::Kind::split:
      return split_collective(graph, nodes.front());
    case CallEdit::Kind::replace:
      break;
  }
  return replace_call(graph, nodes.front(), call_edit.target);
}

std::optional<CallEdit> call_edit_of(const Graph& graph, const Edit& edit) {
  CallEdit found = candidate(graph, edit);
  if (found.nodes.empty()) return std::nullopt;
  const Result<Edit> made = made_for(found, graph, found.nodes);
  if (!made || made->changes != edit.changes) return std::nullopt;
  return found;
}

}  // namespace jointer
