#include "core/edit/select.h"

#include <optional>

#include "core/base/glob.h"
#include "core/graph/module_tree.h"

namespace jointer {
namespace {

struct Pattern {
  std::optional<PartId> part;
  std::optional<std::string_view> modules;
  std::string_view operators;
};

Pattern parse(const Graph& graph, std::string_view selector) {
  Pattern pattern;
  for (const auto& [half, part] : {std::pair{std::string_view("forward:"), PartId(0)},
                                   {std::string_view("backward:"), PartId(1)}}) {
    if (!graph.is_pair() || !selector.starts_with(half) ||
        selector.substr(half.size()).starts_with(':'))
      continue;
    pattern.part = part;
    selector.remove_prefix(half.size());
    break;
  }
  const std::size_t separator = selector.rfind("::");
  if (separator == std::string_view::npos) {
    pattern.operators = selector;
  } else {
    pattern.modules = selector.substr(0, separator);
    pattern.operators = selector.substr(separator + 2);
  }
  return pattern;
}

}  // namespace

bool operator_matches(std::string_view pattern, const OperatorInfo& op) {
  return glob_matches(pattern, op.name) || glob_matches(pattern, op.packet());
}

bool module_matches(std::string_view pattern, std::string_view path) {
  while (!glob_matches(pattern, path)) {
    if (path.empty()) return false;
    const std::size_t dot = path.rfind('.');
    path = path.substr(0, dot == std::string_view::npos ? 0 : dot);
  }
  return true;
}

Result<std::vector<NodeId>> select(const Graph& graph, std::string_view selector) {
  if (const NodeId node = graph.find(selector)) return std::vector{node};
  const Pattern pattern = parse(graph, selector);
  std::vector<bool> operators(graph.operator_count());
  for (std::size_t i = 0; i < operators.size(); ++i)
    operators[i] = operator_matches(pattern.operators, graph.op(OperatorId(i)));
  std::optional<ModuleTree> modules;
  std::vector<bool> in_modules;
  if (pattern.modules) {
    modules.emplace(graph);
    for (std::size_t i = 0; i < modules->size(); ++i)
      in_modules.push_back(module_matches(*pattern.modules, modules->module(ModuleId(i)).path));
  }
  std::vector<NodeId> found;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::call && operators[n.target.index()] &&
        (!pattern.part || n.part == *pattern.part) &&
        (!modules || in_modules[modules->of(id).index()]))
      found.push_back(id);
  }
  if (found.empty())
    return fail(Error::Kind::usage,
                "`{}` selects nothing: no node has that name, and no call matches it", selector);
  return found;
}

}  // namespace jointer
