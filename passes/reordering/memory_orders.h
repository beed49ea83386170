#pragma once

// Computes orders of calls with low memory use. memory_orders.cpp describes the algorithms.

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/memory_items.h"
#include "passes/reordering/calls.h"
#include "passes/reordering/list_schedule.h"

namespace jointer {

// The bytes that calls allocate, and the items that they use. Items that are live throughout, such
// as parameters, do not count.
class ItemUse {
 public:
  ItemUse(const Graph& graph, const MemoryOptions& options, const Calls& calls);

  [[nodiscard]] std::int64_t allocated(Call call) const { return allocated_[call]; }
  [[nodiscard]] std::span<const std::uint32_t> used(Call call) const { return used_.of(call); }
  // The bytes that the call allocates and that nothing uses.
  [[nodiscard]] std::int64_t unused(Call call) const { return unused_[call]; }

  [[nodiscard]] std::size_t items() const { return found_.items.size(); }
  [[nodiscard]] std::int64_t bytes(std::uint32_t item) const { return found_.items[item].bytes; }
  // True if the last user of the item frees it.
  [[nodiscard]] bool is_freed(std::uint32_t item) const { return !found_.items[item].ends_fixed; }
  [[nodiscard]] std::span<const NodeId> users(std::uint32_t item) const {
    return found_.users.of(item);
  }
  // The bytes that are live before a stretch begins and after it ends.
  [[nodiscard]] std::int64_t live_before(Stretch stretch) const {
    return high_[stretch.first] - allocated_[stretch.first];
  }
  [[nodiscard]] std::int64_t live_after(Stretch stretch) const { return low_[stretch.last - 1]; }

 private:
  MemoryItems found_;
  std::vector<std::int64_t> allocated_, unused_;  // by call
  Lists<std::uint32_t> used_;                     // by call
  std::vector<std::int64_t> high_, low_;          // by position in the graph's order
};

// Each function appends the calls of a stretch to `order`. With order_lpmf, if every ready call
// allocates more than `size_threshold`, the ready call with the earliest dependent call runs next;
// 0 disables this rule.
void order_lpmf(const Calls& calls, const OrderedCalls& rows, const ItemUse& use,
                std::int64_t size_threshold, Stretch stretch, std::vector<Call>& order);
void order_bfs(const OrderedCalls& rows, Stretch stretch, std::vector<Call>& order);
void order_dfs(const OrderedCalls& rows, const ItemUse& use, Stretch stretch,
               std::vector<Call>& order);

}  // namespace jointer
