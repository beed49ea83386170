#pragma once

#include <map>
#include <span>

#include "core/graph/graph.h"
#include "core/graph/module_tree.h"

namespace jointer {

// Maps each parameter to the module of the first call, outside the root if there is one, that reads
// the parameter or, if it is in a bucket, its member of the bucket. Omits parameters that nothing
// reads.
std::map<NodeId, ModuleId> parameter_modules(const Graph& graph, const ModuleTree& modules,
                                             std::span<const NodeId> parameters);

}  // namespace jointer
