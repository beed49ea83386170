#include "views/session/edit/policy_edit.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "core/base/units.h"

namespace jointer::views {
namespace {

// Replaces the numbers of layers and experts with a wildcard.
std::string module_pattern(std::string_view path) {
  std::string pattern;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('.'), path.size());
    const std::string_view segment = path.substr(0, end);
    const bool is_number = std::all_of(segment.begin(), segment.end(), [](char c) {
      return std::isdigit(static_cast<unsigned char>(c)) != 0;
    });
    if (!pattern.empty()) pattern += '.';
    pattern += is_number ? std::string_view("*") : segment;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return pattern;
}

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
  return module_pattern(modules.module(modules.of(node)).path) + "::" + op;
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
