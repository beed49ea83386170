#pragma once

// Memory policies as edits. No Qt.

#include <span>
#include <string>

#include "core/edit/edit.h"
#include "core/graph/module_tree.h"

namespace jointer::views {

// What gets the policy.
enum class PolicyScope : std::uint8_t {
  nodes,    // the nodes themselves
  op,       // every call of the operator of the first one
  pattern,  // calls of its operator in modules like its own: layers.*.attention::aten.mm.default
};

// What an edit selects for a node.
std::string policy_selector(const Graph& graph, const ModuleTree& modules, NodeId node,
                            PolicyScope scope);

// "Save aten.mm.default". `nodes`: at least one, all calls.
Edit policy_edit(const Graph& graph, const ModuleTree& modules, std::span<const NodeId> nodes,
                 PolicyScope scope, MemoryPolicy policy);

}  // namespace jointer::views
