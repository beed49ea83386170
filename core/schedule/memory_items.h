#pragma once

// Finds the memory that is allocated and freed while a graph runs, and the calls that determine its
// lifetime in any order of the calls.

#include <cstdint>
#include <vector>

#include "core/base/lists.h"
#include "core/graph/graph.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/movable_order.h"

namespace jointer {

struct MemoryItems {
  // A storage, a copy that the collective library allocates, or optimizer state. The beginning or
  // the end of its lifetime is fixed if no move changes it: if it is at the start or the end of the
  // step, or at a placeholder or an output.
  struct Item {
    std::int64_t bytes = 0;
    bool begins_fixed = false, ends_fixed = false;
    // If not fixed: the call that allocates the item, and the call after which it is freed.
    NodeId begins, ends;
  };

  // `calls`: the nodes that run, in the graph's order.
  MemoryItems(const Graph& graph, const MemoryOptions& options, const MovableOrder& calls);

  std::vector<Item> items;
  // Indexed by item: the calls that return a tensor in it, and the calls that use it, each listed
  // once, in the graph's order. A wait uses the inputs of its collective, except under torch's
  // rules, and the copy that the collective library allocated.
  Lists<NodeId> makers, users;
  // Indexed by node id: the items that the call makes or uses, except those with a fixed beginning
  // and end.
  Lists<std::uint32_t> of_node;
  // Indexed by node id: bytes of the items that begin or end there, without fixed ones.
  std::vector<std::int64_t> allocated, freed;
  // Indexed by position: the sum over the fixed beginnings and ends up to that position, after its
  // allocations and after its frees.
  std::vector<std::int64_t> fixed_high, fixed_low;
  std::int64_t start_bytes = 0;  // before the first call

 private:
  void find_touches(const Graph& graph, const MovableOrder& calls,
                    std::span<const Lifetime> lifetimes, bool is_torch);
  void fix_ends(const Graph& graph, const MovableOrder& calls, std::span<const Lifetime> lifetimes);
};

}  // namespace jointer
