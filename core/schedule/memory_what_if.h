#pragma once

// Computes the peak of live bytes in an order that is being edited. The algorithm is at the top of
// memory_what_if.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "core/graph/graph.h"
#include "core/schedule/memory_items.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/movable_order.h"
#include "core/schedule/range_maximum.h"

namespace jointer {

class MemoryWhatIf {
 public:
  // `calls`: the nodes that run, in the graph's order. The blocks of the functions below consist of
  // calls, sorted by their current order, and gaps are those of `calls`.
  MemoryWhatIf(const Graph& graph, const MemoryOptions& options, const MovableOrder& calls);
  MemoryWhatIf(const MemoryWhatIf&) = delete;
  MemoryWhatIf& operator=(const MemoryWhatIf&) = delete;

  [[nodiscard]] std::int64_t peak_bytes() const;
  // The live bytes at the start, then at two points per call: after its allocations and after its
  // frees.
  [[nodiscard]] std::vector<std::int64_t> profile() const;

  // Call this before moving the block in `calls`.
  void detach(std::span<const NodeId> block);
  // Call this after moving the block. `changed`: the stretch that MovableOrder::move returned.
  void attach(std::span<const NodeId> block, const MovableOrder& calls, Stretch changed);

  // The peaks with the block in each gap in [first, last]. All these gaps must be legal.
  [[nodiscard]] std::vector<std::int64_t> peaks(const MovableOrder& calls,
                                                std::span<const NodeId> block, std::size_t first,
                                                std::size_t last) const;
  // Returns true if an item begins with a call of the block. If none does, moving the block later
  // never lowers the peak, because it only extends lifetimes.
  [[nodiscard]] bool allocates(std::span<const NodeId> block) const;

 private:
  friend class MemoryPreview;

  using Item = MemoryItems::Item;

  void sum_up(const MovableOrder& calls, Stretch stretch);
  void touched_by(std::span<const NodeId> block, std::vector<std::uint32_t>& items) const;

  MemoryItems found_;
  std::vector<std::int64_t> high_, low_;  // indexed by position: live bytes of all items
  RangeMaximum highest_;
  std::vector<std::uint32_t> detached_;
};

}  // namespace jointer
