#pragma once

// Builds the tree of the model's modules from the module stacks of a capture's nodes.
//
// A stack lists [path, class] from the root to the innermost module. Paths are Python expressions
// as Dynamo prints them, `L['self'].layers.0.attention`, and are shortened to `layers.0.attention`.
// Some frames are not module paths: SimpleFSDP's parametrization appears as
// `dict(type(L['self'].layers.0...`. Such a frame is a child of the frame before it, named after
// its parameter and class: `weight (ReplicateComputation)`. A node without a stack is in the module
// with the path that `module_fqn` in its `custom` gives.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

struct Module {
  std::string path;                // "layers.0.attention"; empty for the root
  std::string segment;             // last part of the path: "attention"
  std::string type;                // class, without its Python package; empty if unknown
  ModuleId parent;                 // none for the root
  std::vector<ModuleId> children;  // in order of first appearance
  int depth = 0;                   // up to kMaxModuleDepth
};
// Real models are about ten levels deep. Modules deeper than this limit are merged into their
// ancestor at the limit: every module stores its path, so without a limit, a long path would take
// memory quadratic in its length.
inline constexpr int kMaxModuleDepth = 64;

class ModuleTree {
 public:
  // Nodes without a stack and without `module_fqn` are assigned to the root.
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

// Returns "layers.0.attention" for "L['self'].layers.0.attention"; empty for the root, and if the
// frame is not a module path.
std::string module_path(std::string_view frame);

// Returns "Attention" for "torchtitan.models.llama3.Attention".
std::string_view short_type(std::string_view type);

}  // namespace jointer
