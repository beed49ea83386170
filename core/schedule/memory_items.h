#pragma once

// Finds the memory that is allocated and freed while a graph runs and the calls that allocate and
// free it, for any order of the calls.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/movable_order.h"

namespace jointer {

// A list of values for each of many keys, stored contiguously.
template <class T>
struct Lists {
  std::vector<std::uint32_t> first;  // indexed by key, with one extra entry for the end
  std::vector<T> all;

  [[nodiscard]] std::span<const T> of(std::size_t key) const {
    return std::span(all).subspan(first[key], first[key + 1] - first[key]);
  }
  // Keeps the order of the pairs.
  static Lists of_pairs(std::span<const std::pair<std::uint32_t, T>> pairs, std::size_t keys) {
    Lists lists;
    lists.first.assign(keys + 1, 0);
    for (const auto& [key, value] : pairs) ++lists.first[key + 1];
    for (std::size_t i = 0; i < keys; ++i) lists.first[i + 1] += lists.first[i];
    lists.all.resize(pairs.size());
    std::vector<std::uint32_t> next(lists.first.begin(), lists.first.end() - 1);
    for (const auto& [key, value] : pairs) lists.all[next[key]++] = value;
    return lists;
  }
};

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
