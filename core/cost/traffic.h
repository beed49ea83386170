#pragma once

#include <cstdint>

#include "core/graph/graph.h"

namespace jointer {

// What running a node means for a device, as far as bytes go.
struct Traffic {
  enum class Kind : std::uint8_t {
    none,      // runs nothing on the device: views, waits, sizes, allocations
    kernel,    // reads and writes device memory
    transfer,  // between host and device
    host,      // runs on the CPU of a cuda graph
  };
  Kind kind = Kind::none;
  std::int64_t bytes = 0;    // moved; by a transfer, through the host link
  bool blocks_host = false;  // the CPU waits for the result: .item(), a copy to the host
};

// Bytes that a node's kernel must move at least: each input tensor once (broadcast dimensions count
// once), each new output once, what it writes into twice. Lookups count the rows they take, not the
// table.
Traffic node_traffic(const Graph& graph, const Node& node);

}  // namespace jointer
