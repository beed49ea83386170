#pragma once

// Lifetimes of buffers, the peak of an order of kernels, and Inductor's search for an order with a
// lower peak.
//
// Terms: a place is the index of a kernel in the order for which the plan is made, at first the
// order as fused. A buffer's users are the kernels that read it; users for ordering include those
// that only have to run later. If an external kernel has several results, it allocates all of them,
// and each is freed separately. A buffer that an op changes in place lives until the last user of
// the changed one.
//
// Steps (`reorder_for_peak_memory`): sizes and users of buffers are found; then three orders are
// tried (least peak first, breadth first, depth first). The one with the lowest peak wins, and the
// order as fused wins ties. Cost: linear in dependencies, up to sorting; for the first order, the
// number of kernels times the number of those that are ready at a time.
//
// Source: torch._inductor.memory.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels/kernels.h"
#include "core/kernels/scheduling.h"

namespace jointer::kernels {

using Place = std::int32_t;
using Places = SmallVector<Place, 4>;

class MemoryPlan {
 public:
  MemoryPlan(const Scheduling& scheduling, std::span<const NodeIndex> nodes);

  struct Peak {
    std::int64_t peak = 0;                                      // bytes
    std::vector<std::int64_t> after_allocation, after_release;  // bytes, by step
    std::vector<BufferLife> lives;  // `first` and `last` are steps, not indices of kernels
  };
  // Like `estimate_peak_memory_allocfree`.
  [[nodiscard]] Peak peak(std::span<const Place> order) const;
  // The same for known lifetimes. `steps`: the number of kernels.
  [[nodiscard]] static Peak peak_of(std::vector<BufferLife> lives, std::size_t steps);
  // Like `estimate_peak_memory`. For torch 2.11, this includes its mistake: outputs count as freed
  // from the start.
  [[nodiscard]] std::int64_t simple_peak(std::span<const Place> order) const;
  // `as_fused` returns all places in order.
  [[nodiscard]] std::vector<Place> order(MemoryOrder method) const;
  // The bytes that are allocated with a buffer, and those that its release frees.
  [[nodiscard]] std::int64_t allocated(BufferId id) const {
    return buffers_[static_cast<std::size_t>(id)].allocated;
  }
  [[nodiscard]] std::int64_t freed(BufferId id) const {
    return buffers_[static_cast<std::size_t>(id)].freed;
  }

  [[nodiscard]] std::size_t buffer_count() const { return buffers_.size(); }
  // Kernels that use a buffer's data.
  [[nodiscard]] std::span<const Place> users(BufferId id) const {
    return buffers_[static_cast<std::size_t>(id)].users;
  }
  // Buffers whose data a kernel uses.
  [[nodiscard]] std::span<const BufferId> reads(Place place) const {
    return plan_[static_cast<std::size_t>(place)].reads;
  }
  [[nodiscard]] const Op& first_op(Place place) const { return s_.op(node(place).ops.front()); }
  // True if `later` has to run after `earlier`.
  [[nodiscard]] bool needs(Place later, Place earlier) const;

 private:
  struct PlannedBuffer {
    std::int64_t allocated = 0, freed = 0;
    Places users, users_for_order;  // each once
    bool is_planned_input = false;  // an input that may be freed and that something reads
  };
  struct PlannedNode {
    std::int64_t size = 0;
    BufferIds reads;       // buffers that it is a user of, each once
    Places before, after;  // each once
  };

  void find_sizes();
  std::int64_t find_size(BufferId id, bool is_result);
  void find_users();
  void connect();
  [[nodiscard]] std::vector<BufferLife> lives(std::span<const Place> order) const;
  [[nodiscard]] std::vector<Place> least_peak_first() const;
  [[nodiscard]] std::vector<Place> breadth_first() const;
  [[nodiscard]] std::vector<Place> depth_first() const;
  [[nodiscard]] const SchedulerNode& node(Place place) const {
    return s_.node(nodes_[static_cast<std::size_t>(place)]);
  }

  const Scheduling& s_;
  std::vector<NodeIndex> nodes_;
  std::vector<PlannedBuffer> buffers_;  // by buffer
  std::vector<BufferId> inputs_;        // those that are planned, in the order of their first read
  std::vector<PlannedNode> plan_;       // by place
};

}  // namespace jointer::kernels
