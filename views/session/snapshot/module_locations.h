#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/module_tree.h"

namespace jointer::views {

// Groups nodes in the way that people think of a model: as a tree of modules, with each parameter
// in the module that owns it. `layers` and its `0` form one place, `layers.0`, unless `layers`
// itself has nodes. In a graph without modules, the places are source lines: the innermost frame of
// each stack.
struct ModuleLocation {
  std::string name;  // relative to the parent: "attention", "layers.0", "model.py:574"
  std::string path;  // "layers.0.attention"; for a source line, file and line
  std::string type;  // class name; for a source line, its code
  int parent = -1;
  int number = -1;  // index in a list: 0 for layers.0
};

class ModuleLocations {
 public:
  ModuleLocations() = default;
  ModuleLocations(const Graph& graph, const ModuleTree& modules);

  // Parents precede their children; numbered siblings are sorted by number.
  [[nodiscard]] const std::vector<ModuleLocation>& all() const { return places_; }
  [[nodiscard]] int of(NodeId node) const { return by_node_[node.index()]; }
  // The outermost ancestor of a place, or the place itself.
  [[nodiscard]] int top(int place) const;
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
