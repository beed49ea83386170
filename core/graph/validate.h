#pragma once

#include "core/graph/graph.h"

namespace jointer {

// What every graph fulfils after every read, edit and pass:
//  - names are not empty and unique within a part;
//  - a node reads only nodes of its own part that come before it (so there is no cycle);
//  - a part has one output node, its last;
//  - no size, stride or offset is absurd: sizes are not negative, sums of storages fit 62 bits;
//  - a tensor's storage exists and its operator is known (see is_custom_operator for what need not
//    be).
// Error: the first violation: which node, which argument, what is wrong, what to do.
Result<void> validate(const Graph& graph);

// Things that are suspicious but can be worked with, one line each: tensors reaching beyond their
// storage, collectives without a process group, waits that wait for nothing.
std::vector<std::string> find_warnings(const Graph& graph);

}  // namespace jointer
