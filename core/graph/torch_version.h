#pragma once

// The version of torch that produced a graph. Where versions of torch differ, this version decides.
// A graph without a version is treated as if the newest version had produced it.

#include "core/base/torch_version.h"
#include "core/graph/part.h"

namespace jointer {

class Graph;

TorchVersion torch_version_of(const Part& part);
// The version of the graph's first part.
TorchVersion torch_version_of(const Graph& graph);

// True if the part was captured with this version of torch or a later one.
bool is_of_torch(const Part& part, int major, int minor);

}  // namespace jointer
