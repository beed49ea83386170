#pragma once

// The model's modules as a tree, from the module stacks of a capture's nodes.
//
// A stack lists [path, class] from the root inwards. Paths are Python expressions as Dynamo prints
// them: `L['self'].layers.0.attention`. They are shortened to `layers.0.attention`. A frame that is
// no module path (SimpleFSDP's parametrization appears as `dict(type(L['self'].layers.0...` ) hangs
// under the frame before it, named after its parameter and class: `weight (ReplicateComputation)`.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

struct Module {
  std::string path;                // "layers.0.attention"; empty for the root
  std::string segment;             // what it adds to its parent's path: "attention"
  std::string type;                // class, without its Python package
  ModuleId parent;                 // none for the root
  std::vector<ModuleId> children;  // in order of first appearance
  int depth = 0;                   // at most kMostModuleDepth
};
// Real models have ten. What lies deeper counts to the module at this depth: every module holds its
// path, so without an end a long path would take memory by the square of its length.
inline constexpr int kMostModuleDepth = 64;

class ModuleTree {
 public:
  // Nodes without a module hang at the root.
  explicit ModuleTree(const Graph& graph);

  [[nodiscard]] ModuleId root() const { return ModuleId(0); }
  [[nodiscard]] std::size_t size() const { return modules_.size(); }
  [[nodiscard]] const Module& module(ModuleId id) const { return modules_[id.index()]; }
  // The innermost module that called the node.
  [[nodiscard]] ModuleId of(NodeId node) const { return by_node_[node.index()]; }
  [[nodiscard]] ModuleId find(std::string_view path) const;

 private:
  ModuleId child(ModuleId parent, std::string_view segment, std::string_view path,
                 std::string_view type);
  ModuleId intern_stack(const Graph& graph, const ModuleStack& stack);
  ModuleId intern_path(std::string_view path, std::string_view type);

  std::vector<Module> modules_;
  std::unordered_map<std::string, ModuleId> by_segment_;  // by parent and segment
  std::vector<ModuleId> by_node_;
};

// "layers.0.attention" of "L['self'].layers.0.attention"; nothing if it is no module path.
std::string module_path(std::string_view frame);

// "Attention" of "torchtitan.models.llama3.Attention".
std::string_view short_type(std::string_view type);

}  // namespace jointer
