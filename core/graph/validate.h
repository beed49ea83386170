#pragma once

#include "core/graph/graph.h"

namespace jointer {

// What every graph fulfils after every read, edit and pass:
//  - names are not empty and unique within a part;
//  - a node reads only live nodes of its own part that come before it (so there is no cycle);
//  - a part has one output node, its last;
//  - no size is absurd: none is negative, and the bytes of all storages, and of all tensors, add up
//    to less than 2^62, so that no sum over the graph overflows;
//  - a tensor's storage exists.
// An operator that nothing is known of is no violation: find_warnings counts its calls.
// Error: the first violation: which node, which argument, what is wrong, what to do.
Result<void> validate(const Graph& graph);

// The part of it that depends on the numbers that symbols stand for: sizes.
Result<void> validate_sizes(const Graph& graph);

// Things that are suspicious but can be worked with, one line each: tensors reaching beyond their
// storage, collectives without a process group, waits that wait for nothing, opaque calls.
std::vector<std::string> find_warnings(const Graph& graph);

}  // namespace jointer
