#pragma once

// The version of torch that made a graph. What upstream changed is done as the graph's own torch
// does it; a graph that names no version is of the newest.

#include "core/base/torch_version.h"
#include "core/graph/part.h"

namespace jointer {

class Graph;

TorchVersion torch_version_of(const Part& part);
// Of the graph's first part.
TorchVersion torch_version_of(const Graph& graph);

// Whether a graph was captured with this torch or a later one.
bool is_of_torch(const Part& part, int major, int minor);

}  // namespace jointer
