#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/module_tree.h"

namespace jointer::views {

// Where nodes belong, as people think of a model: a tree of modules with each parameter at the
// module that owns it. `layers` and its `0` are one place, `layers.0`, unless `layers` has nodes of
// its own. Of a graph without modules, the places are source lines: the innermost of each stack.
struct Place {
  std::string name;  // below its parent: "attention", "layers.0", "model.py:574"
  std::string path;  // "layers.0.attention"; of a source line, file and line
  std::string type;  // class; of a source line, its code
  int parent = -1;
  int number = -1;  // of an element of a list: 0 of layers.0
};

class Places {
 public:
  Places() = default;
  Places(const Graph& graph, const ModuleTree& modules);

  // A parent comes before its children; siblings that are numbered are in order of their numbers.
  [[nodiscard]] const std::vector<Place>& all() const { return places_; }
  [[nodiscard]] int of(NodeId node) const { return by_node_[node.index()]; }
  // The place above it that has no parent, or itself.
  [[nodiscard]] int top(int place) const;
  [[nodiscard]] bool are_source_lines() const { return are_source_lines_; }

 private:
  void add_modules(const Graph& graph, const ModuleTree& modules);
  void add_source_lines(const Graph& graph);
  [[nodiscard]] int add(Place place);

  std::vector<Place> places_;
  std::vector<int> by_node_;
  bool are_source_lines_ = false;
};

}  // namespace jointer::views
