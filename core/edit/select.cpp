#include "core/edit/select.h"

#include <algorithm>
#include <optional>

#include "core/base/characters.h"
#include "core/base/glob.h"
#include "core/base/nearest_name.h"
#include "core/base/take_part.h"
#include "core/edit/half_name.h"
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
  if (const HalfName split = split_half(selector); graph.is_pair() && !split.prefix.empty()) {
    pattern.part = PartId(split.prefix == kBackward ? 1 : 0);
    selector = split.name;
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

// Returns the candidates for suggestions: operators if the text has a dot, or else calls.
std::vector<std::string_view> likely_names(const Graph& graph, std::string_view wanted) {
  const bool are_operators = wanted.find('.') != std::string_view::npos;
  std::vector<std::string_view> names;
  std::vector<bool> is_named(graph.operator_count(), false);
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call) continue;
    if (!are_operators) {
      names.push_back(graph.name(id));
    } else if (!is_named[n.target.index()]) {
      is_named[n.target.index()] = true;
      names.push_back(graph.target(n));
    }
  }
  return names;
}

std::string some_of(std::string_view wanted, std::span<const std::string_view> names) {
  return names.empty() ? "none" : some_names(wanted, names);
}

}  // namespace

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
  for (std::size_t i = 0; i < operators.size(); ++i) {
    const OperatorInfo& op = graph.op(OperatorId(i));
    operators[i] =
        glob_matches(pattern.operators, op.name) || glob_matches(pattern.operators, op.packet());
  }
  std::optional<ModuleTree> modules;
  std::vector<bool> in_modules;
  std::vector<std::string_view> paths;
  if (pattern.modules) {
    modules.emplace(graph);
    for (std::size_t i = 0; i < modules->size(); ++i) {
      const std::string& path = modules->module(ModuleId(i)).path;
      in_modules.push_back(module_matches(*pattern.modules, path));
      if (!path.empty()) paths.emplace_back(path);
    }
  }
  std::vector<NodeId> found;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::call && operators[n.target.index()] &&
        (!pattern.part || n.part == *pattern.part) &&
        (!modules || in_modules[modules->of(id).index()]))
      found.push_back(id);
  }
  if (!found.empty()) return found;
  if (modules && std::ranges::find(in_modules, true) == in_modules.end())
    return fail(Error::Kind::usage,
                "`{}` selects nothing: no module matches `{}`; the graph has {}", selector,
                *pattern.modules, some_of(*pattern.modules, paths));
  return fail(
      Error::Kind::usage,
      "`{}` selects nothing: no node has this name, and no call matches it; the graph has {}",
      selector, some_of(pattern.operators, likely_names(graph, pattern.operators)));
}

std::string with_number_wildcards(std::string_view path) {
  std::string out;
  while (!path.empty()) {
    const std::string_view part = take_part(path, '.');
    if (!out.empty()) out += '.';
    out += is_digits(part) ? std::string_view("*") : part;
  }
  return out;
}

}  // namespace jointer
