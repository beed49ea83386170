#pragma once

#include <cstdint>
#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

// The bytes moved by a node, and where they move.
struct Traffic {
  enum class Kind : std::uint8_t {
    none,      // runs nothing on the device: views, waits, sizes, allocations
    kernel,    // reads and writes device memory
    transfer,  // between host and device
    host,      // runs on the CPU although the graph runs on a GPU
  };
  Kind kind = Kind::none;
  std::int64_t bytes = 0;    // moved; for a transfer, over the host link
  bool blocks_host = false;  // the CPU waits for the result: .item(), a copy to the host
};

// True if the operator selects rows of its first argument. It then reads at most as many bytes of
// the argument as it writes.
bool is_lookup(std::string_view packet);

// The minimum number of bytes that a node's kernel must move: each input tensor once (broadcast
// dimensions count once) and each output once, so that a mutated tensor that the call returns
// counts twice. A lookup counts the rows that it reads, not the whole table. If a call returns no
// tensor, the arguments that its schema marks as written count as outputs (`_foreach_add_`,
// `_fused_adamw_`); those named `out` do not count as inputs. A call without results or such
// arguments moves nothing, unless it reads a number from the device.
Traffic node_traffic(const Graph& graph, const Node& node);

}  // namespace jointer
