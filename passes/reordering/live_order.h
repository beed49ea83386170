#pragma once

// An order of calls in which neighbors can swap, with the live bytes at each call. live_order.cpp
// describes the algorithm.

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/memory_items.h"
#include "passes/reordering/calls.h"

namespace jointer {

class LiveOrder {
 public:
  // Begins with the graph's order.
  LiveOrder(const Graph& graph, const MemoryOptions& options, const Calls& calls);

  [[nodiscard]] std::span<const Call> order() const { return order_; }
  [[nodiscard]] Call at(std::size_t place) const { return order_[place]; }
  [[nodiscard]] std::size_t place(Call call) const { return places_[call]; }
  // Live bytes after the call has allocated its results.
  [[nodiscard]] std::int64_t bytes(Call call) const { return high_[places_[call]]; }
  // The maximum of bytes() over a stretch. Cost: linear in the length of the stretch.
  [[nodiscard]] std::int64_t peak(Stretch stretch) const;

  // Swaps the `count` calls from position `first` with the call directly before them (raise) or
  // directly after them (sink). The calls and that call must not depend on each other. Returns the
  // resulting peak of live bytes at these positions; the live bytes at other positions do not
  // change. Each function undoes the other.
  std::int64_t raise(std::size_t first, std::size_t count);
  std::int64_t sink(std::size_t first, std::size_t count);

 private:
  [[nodiscard]] bool is_at(Call call, std::size_t first, std::size_t count) const {
    return places_[call] - first < count;
  }
  [[nodiscard]] std::span<const std::uint32_t> items_of(Call call) const {
    return items_.of_node.of(calls_.node(call).index());
  }
  [[nodiscard]] Call call(NodeId node) const { return calls_.of_node(node); }
  void find_loose();
  void end_with(std::uint32_t item, NodeId node);
  void settle(std::uint32_t item);
  void settle_loose(std::size_t first, std::size_t last);
  std::int64_t sum_up(std::size_t first, std::size_t last);

  const Calls& calls_;
  MemoryItems items_;
  std::vector<bool> is_loose_;  // by item
  bool any_loose_ = false;
  std::vector<Call> order_;
  std::vector<std::uint32_t> places_;     // by call
  std::vector<std::int64_t> high_, low_;  // by position: after the call allocates, after it frees
};

}  // namespace jointer
