#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/schedule/lifetimes.h"

namespace jointer {

// The library that runs collectives.
enum class CollectiveLibrary : std::uint8_t {
  none,  // allocates no memory: NCCL, and local copies
  gloo,  // copies the tensors it reduces or gathers
};

// Lifetimes of the memory that the library allocates in addition to a collective's output, from the
// start to the wait. They have no storage. Steps are numbered as in lifetimes.h. The rules are at
// the top of collective_copies.cpp.
std::vector<Lifetime> find_collective_copies(const Graph& graph, CollectiveLibrary library,
                                             DeviceType device);

// Bytes that the library allocates for one collective.
std::int64_t collective_copy_bytes(const Graph& graph, const Node& start, DeviceType device);

}  // namespace jointer
