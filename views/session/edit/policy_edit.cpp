#include "views/session/edit/policy_edit.h"

#include <fmt/core.h>

#include "core/base/units.h"
#include "core/edit/select.h"

namespace jointer::views {
namespace {

// A flat training step has no partitioner to leave the decision to.
std::string_view verb_of(MemoryPolicy policy, CaptureKind kind) {
  switch (policy) {
    case MemoryPolicy::must_save:
      return "Save";
    case MemoryPolicy::prefer_save:
      return "Prefer saving";
    case MemoryPolicy::must_recompute:
      return "Recompute";
    case MemoryPolicy::prefer_recompute:
      return "Prefer recomputing";
    case MemoryPolicy::must_cpu_offload:
      return "Offload";
    case MemoryPolicy::none:
      break;
  }
  return kind == CaptureKind::train_step ? "Untag" : "Leave to the partitioner:";
}

}  // namespace

std::string policy_selector(const Graph& graph, const ModuleTree& modules, NodeId node,
                            PolicyScope scope) {
  const std::string op(graph.target(graph.node(node)));
  if (scope == PolicyScope::nodes) return edit_name(graph, node);
  if (scope == PolicyScope::op) return op;
  return with_number_wildcards(modules.module(modules.of(node)).path) + "::" + op;
}

Edit policy_edit(const Graph& graph, const ModuleTree& modules, std::span<const NodeId> nodes,
                 PolicyScope scope, MemoryPolicy policy) {
  Edit edit;
  std::string what = policy_selector(graph, modules, nodes.front(), scope);
  if (scope == PolicyScope::nodes) {
    for (const NodeId node : nodes)
      edit.changes.emplace_back(SetPolicy{edit_name(graph, node), policy});
    if (nodes.size() > 1)
      what = fmt::format("{} nodes", format_count(static_cast<std::int64_t>(nodes.size())));
  } else {
    edit.changes.emplace_back(SetPolicy{what, policy});
  }
  edit.title = fmt::format("{} {}", verb_of(policy, graph.part(PartId(0)).kind), what);
  return edit;
}

}  // namespace jointer::views
