#pragma once

// Finds the memory that is allocated and freed while a graph runs and the calls that allocate and
// free it, for any order of the calls.

#include <cstdint>
#include <vector>

#include "core/base/lists.h"
#include "core/graph/graph.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/movable_order.h"

namespace jointer {

struct MemoryItems {
  // A storage, or a copy that a collective's library allocates. An end is fixed if no move changes
  // it: the start, the end, or the position of a placeholder or an output.
  struct Item {
    std::int64_t bytes = 0;
    bool begins_fixed = false, ends_fixed = false;
    NodeId begins,
        ends;  // if not fixed: the call that allocates it, and the call after which it is freed
  };

  // `calls`: the nodes that run, in the graph's order.
  MemoryItems(const Graph& graph, const MemoryOptions& options, const MovableOrder& calls);

  std::vector<Item> items;
  // Indexed by item: the calls that return a tensor in it, and the calls that use it, each listed
  // once in the graph's order. A wait uses the inputs of its collective.
  Lists<NodeId> makers, users;
  Lists<std::uint32_t>
      of_node;  // indexed by call: the items it makes or uses, unless both ends are fixed
  std::vector<std::int64_t> allocated,
      freed;  // indexed by node: bytes of items that begin or end there
  // Indexed by position: bytes of items with fixed ends, after the allocations of that position and
  // after its frees.
  std::vector<std::int64_t> fixed_high, fixed_low;
  std::int64_t start_bytes = 0;  // before the first call

 private:
  void find_touches(const Graph& graph, const MovableOrder& calls,
                    std::span<const Lifetime> lifetimes, bool is_torch);
  void fix_ends(const Graph& graph, const MovableOrder& calls, std::span<const Lifetime> lifetimes);
};

}  // namespace jointer
