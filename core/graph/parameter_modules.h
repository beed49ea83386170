#pragma once

#include <map>
#include <span>

#include "core/graph/graph.h"
#include "core/graph/module_tree.h"

namespace jointer {

// Maps each parameter to its module: the module of the first call that reads the parameter, or that
// reads its part of a bucket. A parameter that no call reads is not in the map.
std::map<NodeId, ModuleId> parameter_modules(const Graph& graph, const ModuleTree& modules,
                                             std::span<const NodeId> parameters);

}  // namespace jointer
