#pragma once

// Memory policies as edits. Does not use Qt.

#include <span>
#include <string>

#include "core/edit/edit.h"
#include "core/graph/module_tree.h"

namespace jointer::views {

// The nodes that a policy edit applies to.
enum class PolicyScope : std::uint8_t {
  nodes,    // the given nodes
  op,       // every call of the first node's operator
  pattern,  // calls of that operator in similar modules: layers.*.attention::aten.mm.default
};

// The selector that an edit with this scope uses for a node.
std::string policy_selector(const Graph& graph, const ModuleTree& modules, NodeId node,
                            PolicyScope scope);

// Makes an edit such as "Save aten.mm.default". `nodes` must not be empty, and all of them must be
// calls.
Edit policy_edit(const Graph& graph, const ModuleTree& modules, std::span<const NodeId> nodes,
                 PolicyScope scope, MemoryPolicy policy);

}  // namespace jointer::views
