#pragma once

// The memory of an order of kernels, kept up to date while kernels swap places with their
// neighbors.
//
// Terms: a group is a run of adjacent kernels. `moved` is the kernel directly before or after the
// group, with which the group swaps. A buffer is freed after its last user.
//
// Steps: `peak_if_later` and `peak_if_earlier` compute the memory that a swap would lead to, and
// `accept` makes the last swap that they considered. If `moved` runs later, it becomes the last
// user of buffers that the group used last; if it runs earlier, a kernel of the group becomes the
// last user of buffers that `moved` used last.
//
// Cost: linear in the group, the buffers that `moved` uses, and their users.
//
// Source: torch._inductor.comms (`_initialize_memory_tracking`,
// `_find_buffers_with_changed_last_use*`, `_calculate_potential_peak_memory_*`,
// `_update_memory_tracking_after_swap_*`). As there, the last user of a buffer is not updated when
// a kernel moves earlier, and the caller says how much is allocated at most while the group runs,
// which counts only if no buffer changes its last user. Inputs count as allocated by the kernel
// that is first in the order of the plan.

#include <cstdint>
#include <span>
#include <vector>

#include "core/kernels/memory_order.h"

namespace jointer::kernels {

class OrderMemory {
 public:
  struct Step {                             // in bytes
    std::int64_t allocated = 0, freed = 0;  // by the kernel
    std::int64_t after_allocation = 0, after_release = 0;
  };

  // The plan must outlive this object; its order is the initial one.
  explicit OrderMemory(const MemoryPlan& plan);

  // The peak of the initial order, before any swap.
  [[nodiscard]] std::int64_t peak() const { return peak_; }
  [[nodiscard]] const Step& operator[](Place place) const {
    return steps_[static_cast<std::size_t>(place)];
  }

  // The maximum of the bytes that would be allocated while `moved` and the group run if `moved`,
  // which runs directly before the group, ran after it. `group_peak`: the current maximum while the
  // group runs.
  std::int64_t peak_if_later(Place moved, std::span<const Place> group, std::int64_t group_peak);
  // The same if `moved`, which runs directly after the group, ran before it.
  std::int64_t peak_if_earlier(Place moved, std::span<const Place> group, std::int64_t group_peak);
  // Makes the swap for which one of these two functions was last called.
  void accept();

 private:
  struct Change {
    Place place = -1;
    std::int64_t after_allocation = 0, more_freed = 0;
  };

  void begin(std::span<const Place> group);
  void end(std::span<const Place> group);

  const MemoryPlan& plan_;
  std::int64_t peak_ = 0;
  std::vector<Step> steps_;                // by place
  std::vector<Place> last_user_;           // by buffer; -1: it is not freed
  std::vector<std::int32_t> in_group_;     // scratch, by place: index in the group, or -1
  std::vector<Change> changes_;            // of the swap to accept: the group, then `moved`
  std::vector<BufferId> last_used_later_;  // buffers of which `moved` would become the last user
  Place moved_ = -1;
};

}  // namespace jointer::kernels
