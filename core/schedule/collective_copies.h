#pragma once

#include <cstdint>
#include <vector>

#include "core/graph/graph.h"
#include "core/schedule/lifetimes.h"

namespace jointer {

// Who carries collectives out.
enum class CollectiveLibrary : std::uint8_t {
  none,  // takes no memory of its own: NCCL, and local copies
  gloo,  // copies what it reduces, and what it gathers
};

// What the library allocates beside a collective's output, from the start to the wait; no storage.
// The rules are at the top of collective_copies.cpp. Steps are those of lifetimes.h.
std::vector<Lifetime> find_collective_copies(const Graph& graph, CollectiveLibrary library,
                                             DeviceType device);

// What it allocates for one start.
std::int64_t collective_copy_bytes(const Graph& graph, const Node& start, DeviceType device);

}  // namespace jointer
