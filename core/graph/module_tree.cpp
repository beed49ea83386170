#include "core/graph/module_tree.h"

#include <nlohmann/json.hpp>

namespace jointer {
namespace {

constexpr std::string_view kSelf = "L['self']";

// Returns the parameter in a parametrization frame: 'weight' in
// dict(type(L['self'].wq).__dict__)['weight'].fget...
std::string_view parametrized_name(std::string_view frame) {
  const auto open = frame.rfind("['");
  if (open == std::string_view::npos) return {};
  const auto close = frame.find("']", open);
  return close == std::string_view::npos ? std::string_view{}
                                         : frame.substr(open + 2, close - open - 2);
}

}  // namespace

std::string_view short_type(std::string_view type) {
  const auto dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

std::string module_path(std::string_view frame) {
  if (frame.starts_with(kSelf)) frame.remove_prefix(kSelf.size());
  if (frame.starts_with('.')) frame.remove_prefix(1);
  // Dynamo also prints module paths as L['self']._modules['layers']._modules['0'].
  std::string path;
  while (!frame.empty()) {
    if (constexpr std::string_view kModules = "_modules['"; frame.starts_with(kModules)) {
      const auto close = frame.find("']", kModules.size());
      if (close == std::string_view::npos) return {};
      if (!path.empty()) path += '.';
      path += frame.substr(kModules.size(), close - kModules.size());
      frame.remove_prefix(close + 2);
    } else {
      const auto end = std::min(frame.find('.'), frame.size());
      const std::string_view segment = frame.substr(0, end);
      if (segment.find_first_of("()[]' <>") != std::string_view::npos) return {};
      if (!path.empty()) path += '.';
      path += segment;
      frame.remove_prefix(end);
    }
    if (frame.starts_with('.')) frame.remove_prefix(1);
  }
  return path;
}

ModuleTree::ModuleTree(const Graph& graph) {
  modules_.push_back({});
  by_node_.assign(graph.node_count(), root());
  std::vector<ModuleId> by_stack(graph.module_stack_count());
  std::unordered_map<StringId, ModuleId> by_custom;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.module) {
      ModuleId& module = by_stack[n.module.index()];
      if (!module) module = intern_stack(graph, graph.module_stack(n.module));
      by_node_[id.index()] = module;
    } else if (n.custom) {
      // In traces of a whole training step, `custom` has the module's name instead.
      const auto [it, is_new] = by_custom.try_emplace(n.custom, root());
      if (is_new) {
        const auto json = nlohmann::json::parse(graph.text(n.custom), nullptr, false);
        if (json.is_object() && json.contains("module_fqn") && json["module_fqn"].is_string())
          it->second = intern_path(json["module_fqn"].get<std::string>(), {});
      }
      by_node_[id.index()] = it->second;
    }
  }
}

ModuleId ModuleTree::child(ModuleId parent, std::string_view segment, std::string_view path,
                           std::string_view type) {
  const int depth = modules_[parent.index()].depth;
  if (depth == kMaxModuleDepth) return parent;
  const ModuleId id(modules_.size());
  const auto [known, is_new] =
      by_segment_.try_emplace(fmt::format("{} {}", parent.index(), segment), id);
  if (!is_new) return known->second;
  modules_.push_back({.path = std::string(path),
                      .segment = std::string(segment),
                      .type = std::string(type),
                      .parent = parent,
                      .depth = depth + 1});
  modules_[parent.index()].children.push_back(id);
  return id;
}

ModuleId ModuleTree::intern_path(std::string_view path, std::string_view type) {
  ModuleId at = root();
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    at = child(at, path.substr(begin, end - begin), path.substr(0, end), {});
    if (modules_[at.index()].depth == kMaxModuleDepth) break;
    begin = end + 1;
  }
  if (modules_[at.index()].type.empty()) modules_[at.index()].type = short_type(type);
  return at;
}

ModuleId ModuleTree::intern_stack(const Graph& graph, const ModuleStack& stack) {
  ModuleId at = root();
  for (const ModuleFrame& frame : graph.frames(stack)) {
    const std::string_view text = graph.text(frame.path);
    const std::string path = module_path(text);
    if (!path.empty() || text == kSelf || text.empty()) {
      at = intern_path(path, graph.text(frame.type));
      continue;
    }
    const std::string_view type = short_type(graph.text(frame.type));
    const std::string_view parameter = parametrized_name(text);
    const std::string segment =
        parameter.empty() ? std::string(type) : fmt::format("{} ({})", parameter, type);
    const std::string& parent_path = modules_[at.index()].path;
    at = child(at, segment,
               parent_path.empty() ? segment : fmt::format("{}.{}", parent_path, segment), type);
  }
  return at;
}

ModuleId ModuleTree::find(std::string_view path) const {
  for (std::size_t i = 0; i < modules_.size(); ++i)
    if (modules_[i].path == path) return ModuleId(i);
  return {};
}

}  // namespace jointer
