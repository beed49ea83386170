#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/module_tree.h"

namespace jointer::views {

// A module or, in a graph without modules, a source line.
struct ModuleLocation {
  std::string name;  // relative to the parent: "attention", "layers.0", "model.py:574"
  std::string path;  // "layers.0.attention"; for a source line, the file's path and the line
  std::string type;  // class name; for a source line, its code
  int parent = -1;   // index in ModuleLocations::all, or -1
  int number = -1;   // index in a list: 0 for layers.0; otherwise -1
};

// Groups nodes the way people think of a model: as a tree of modules, with each parameter in the
// module that owns it. A list and its item, `layers` and `0`, form one place, `layers.0`, unless
// `layers` itself has nodes or a child that is not numbered. Nodes outside of all modules are in
// "(no module)". In a graph without modules, the places are source lines: the innermost frame of
// each node's stack, or "(no source)".
class ModuleLocations {
 public:
  ModuleLocations() = default;
  ModuleLocations(const Graph& graph, const ModuleTree& modules);

  // Parents precede their children; numbered siblings are sorted by number.
  [[nodiscard]] const std::vector<ModuleLocation>& all() const { return places_; }
  // The index in all() of the node's place; -1 for a node that was removed from the graph.
  [[nodiscard]] int of(NodeId node) const { return by_node_[node.index()]; }
  [[nodiscard]] bool are_source_lines() const { return are_source_lines_; }

 private:
  void add_modules(const Graph& graph, const ModuleTree& modules);
  void add_source_lines(const Graph& graph);
  [[nodiscard]] int add(ModuleLocation place);

  std::vector<ModuleLocation> places_;
  std::vector<int> by_node_;
  bool are_source_lines_ = false;
};

}  // namespace jointer::views
