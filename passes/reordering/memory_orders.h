#pragma once

// Orders of calls that are made to need little memory. How is described at the top of
// memory_orders.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/memory_items.h"
#include "passes/reordering/calls.h"
#include "passes/reordering/list_schedule.h"

namespace jointer {

// What calls allocate, and which items they read; not of what nobody moves, as parameters.
class ItemUse {
 public:
  ItemUse(const Graph& graph, const MemoryOptions& options, const Calls& calls);

  [[nodiscard]] std::int64_t allocated(Call call) const { return allocated_[call]; }
  [[nodiscard]] std::span<const std::uint32_t> used(Call call) const { return used_.of(call); }
  // What it makes for nobody.
  [[nodiscard]] std::int64_t unused(Call call) const { return unused_[call]; }

  [[nodiscard]] std::size_t items() const { return found_.items.size(); }
  [[nodiscard]] std::int64_t bytes(std::uint32_t item) const { return found_.items[item].bytes; }
  // Whether it goes with the last of its users.
  [[nodiscard]] bool is_freed(std::uint32_t item) const { return !found_.items[item].ends_fixed; }
  [[nodiscard]] std::span<const NodeId> users(std::uint32_t item) const {
    return found_.users.of(item);
  }
  // Live when a stretch begins, and what lives on when it is over.
  [[nodiscard]] std::int64_t live_before(Stretch stretch) const {
    return high_[stretch.first] - allocated_[stretch.first];
  }
  [[nodiscard]] std::int64_t live_after(Stretch stretch) const { return low_[stretch.last - 1]; }

 private:
  MemoryItems found_;
  std::vector<std::int64_t> allocated_, unused_;  // by call
  Lists<std::uint32_t> used_;                     // by call
  std::vector<std::int64_t> high_, low_;          // by place, in the graph's order
};

// Each appends the calls of a stretch to `order`. `size_threshold`: above it calls are chosen by
// what they make ready; 0: never.
void order_lpmf(const Calls& calls, const OrderedCalls& rows, const ItemUse& use,
                std::int64_t size_threshold, Stretch stretch, std::vector<Call>& order);
void order_bfs(const OrderedCalls& rows, Stretch stretch, std::vector<Call>& order);
void order_dfs(const OrderedCalls& rows, const ItemUse& use, Stretch stretch,
               std::vector<Call>& order);

}  // namespace jointer
