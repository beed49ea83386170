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
  // `calls`: the nodes that run, in the graph's order.
  MemoryWhatIf(const Graph& graph, const MemoryOptions& options, const MovableOrder& calls);
  MemoryWhatIf(const MemoryWhatIf&) = delete;
  MemoryWhatIf& operator=(const MemoryWhatIf&) = delete;

  [[nodiscard]] std::int64_t peak_bytes() const;
  // Live bytes at the start, then at two points per call: after its allocations and after its
  // frees.
  [[nodiscard]] std::vector<std::int64_t> profile() const;

  // Call before the block moves in `calls`.
  void detach(std::span<const NodeId> block);
  // Call after the block has moved. `changed`: the stretch that the move returned.
  void attach(std::span<const NodeId> block, const MovableOrder& calls, Stretch changed);

  // The peak with the block in each gap in [first, last] of `calls`. The block must be allowed to
  // go there.
  [[nodiscard]] std::vector<std::int64_t> peaks(const MovableOrder& calls,
                                                std::span<const NodeId> block, std::size_t first,
                                                std::size_t last) const;
  // Returns true if a lifetime begins with a call of the block. If none does, moving the block
  // later never lowers the peak, because it only extends lifetimes.
  [[nodiscard]] bool allocates(std::span<const NodeId> block) const;

 private:
  friend class MemoryPreview;

  using Item = MemoryItems::Item;

  explicit MemoryWhatIf(MemoryItems found);
  void sum_up(const MovableOrder& calls, Stretch stretch);
  void touched_by(std::span<const NodeId> block, std::vector<std::uint32_t>& items) const;

  std::vector<Item> items_;
  Lists<NodeId> makers_, users_;  // indexed by item
  Lists<std::uint32_t>
      items_of_node_;  // indexed by call: the items it makes or uses, unless both ends are fixed
  std::vector<std::int64_t> allocated_,
      freed_;  // indexed by node: bytes of items that begin or end there
  // Indexed by position: bytes of items with fixed ends, after the allocations of that position and
  // after its frees.
  std::vector<std::int64_t> fixed_high_, fixed_low_;
  std::vector<std::int64_t> high_, low_;  // indexed by position: all items
  RangeMaximum highest_;
  std::int64_t start_bytes_ = 0;
  std::vector<std::uint32_t> detached_;
};

}  // namespace jointer
