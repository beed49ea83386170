#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/schedule/lifetimes.h"

namespace jointer {

// The library that runs collectives.
enum class CollectiveLibrary : std::uint8_t {
  none,  // allocates nothing that counts: NCCL, whose buffers are its own, or no library
  gloo,  // copies the tensors that it reduces or gathers
};

// Finds the lifetimes of memory that the library allocates in addition to the outputs of
// collectives. These lifetimes have no storage. Steps are numbered as in lifetimes.h. The rules are
// at the top of collective_copies.cpp. Without `rounds_sizes`, no size is rounded.
std::vector<Lifetime> find_collective_copies(const Graph& graph, CollectiveLibrary library,
                                             DeviceType device, bool rounds_sizes = true);

// The bytes that Gloo allocates for one collective in addition to its output.
std::int64_t collective_copy_bytes(const Graph& graph, const Node& start, DeviceType device,
                                   bool rounds_sizes = true);

}  // namespace jointer
