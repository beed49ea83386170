#include "views/session/snapshot/module_locations.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <unordered_map>

#include "views/session/snapshot/stack_trace.h"

namespace jointer::views {
namespace {

// Returns -1 if the segment is not a number.
int number_of(std::string_view segment) {
  int number = -1;
  const auto [end, error] =
      std::from_chars(segment.data(), segment.data() + segment.size(), number);
  return error == std::errc() && end == segment.data() + segment.size() ? number : -1;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.find_last_of("/\\") + 1);
}

}  // namespace

ModuleLocations::ModuleLocations(const Graph& graph, const ModuleTree& modules) {
  by_node_.assign(graph.node_count(), -1);
  are_source_lines_ = modules.size() <= 1;
  if (are_source_lines_)
    add_source_lines(graph);
  else
    add_modules(graph, modules);
}

int ModuleLocations::add(ModuleLocation place) {
  places_.push_back(std::move(place));
  return static_cast<int>(places_.size()) - 1;
}

void ModuleLocations::add_modules(const Graph& graph, const ModuleTree& modules) {
  // Parameter placeholders belong to no submodule; find the owner from the parameter's name
  // (role_target).
  std::unordered_map<std::string_view, ModuleId> by_path;
  for (std::size_t i = 1; i < modules.size(); ++i)
    by_path.emplace(modules.module(ModuleId(i)).path, ModuleId(i));
  std::vector<ModuleId> module_by_node(graph.node_count());
  std::vector<char> has_nodes(modules.size(), 0);
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    ModuleId module = modules.of(id);
    if (module == modules.root() && n.role_target) {
      std::string_view path = graph.text(n.role_target);
      while (true) {
        if (const auto found = by_path.find(path); found != by_path.end()) {
          module = found->second;
          break;
        }
        const auto dot = path.rfind('.');
        if (dot == std::string_view::npos) break;
        path = path.substr(0, dot);
      }
    }
    module_by_node[id.index()] = module;
    has_nodes[module.index()] = 1;
  }

  std::vector<int> place_by_module(modules.size(), -1);
  const std::function<void(ModuleId, int, const std::string&)> add_children =
      [&](ModuleId parent, int parent_place, const std::string& prefix) {
        std::vector<ModuleId> children = modules.module(parent).children;
        const auto number = [&](ModuleId id) { return number_of(modules.module(id).segment); };
        // Sort the numbered children among themselves; the named ones keep their places.
        std::vector<ModuleId> numbered;
        std::ranges::copy_if(children, std::back_inserter(numbered),
                             [&](ModuleId id) { return number(id) >= 0; });
        std::ranges::stable_sort(numbered, {}, number);
        for (auto next = numbered.begin(); ModuleId & id : children)
          if (number(id) >= 0) id = *next++;
        for (const ModuleId id : children) {
          const Module& m = modules.module(id);
          const std::string name = prefix + m.segment;
          const bool is_list =
              has_nodes[id.index()] == 0 && !m.children.empty() &&
              std::ranges::all_of(m.children, [&](ModuleId child) { return number(child) >= 0; });
          if (is_list) {
            add_children(id, parent_place, name + ".");
            continue;
          }
          place_by_module[id.index()] = add({.name = name,
                                             .path = m.path,
                                             .type = m.type,
                                             .parent = parent_place,
                                             .number = number_of(m.segment)});
          add_children(id, place_by_module[id.index()], {});
        }
      };
  add_children(modules.root(), -1, {});
  if (has_nodes[modules.root().index()] != 0)
    place_by_module[modules.root().index()] = add({.name = "(no module)"});
  for (const NodeId id : graph.order())
    by_node_[id.index()] = place_by_module[module_by_node[id.index()].index()];
}

void ModuleLocations::add_source_lines(const Graph& graph) {
  std::unordered_map<std::string, int> by_path;
  std::vector<int> by_stack(graph.stack_count(), -1);
  int without = -1;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    int place = n.stack ? by_stack[n.stack.index()] : without;
    if (place < 0) {
      const auto frames =
          n.stack ? parse_stack(graph.text(graph.stack(n.stack).text)) : std::vector<StackFrame>{};
      if (frames.empty()) {
        if (without < 0) without = add({.name = "(no source)"});
        place = without;
      } else {
        const StackFrame& frame = frames.back();
        std::string path = fmt::format("{}:{}", frame.file, frame.line);
        const auto [it, is_new] = by_path.try_emplace(path, -1);
        if (is_new)
          it->second = add({.name = fmt::format("{}:{}", file_name(frame.file), frame.line),
                            .path = std::move(path),
                            .type = std::string(frame.code)});
        place = it->second;
      }
      if (n.stack) by_stack[n.stack.index()] = place;
    }
    by_node_[id.index()] = place;
  }
}

}  // namespace jointer::views
