#include "core/kernels/simple_overlap.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "core/base/index.h"

namespace jointer::kernels {

namespace {

class OverlapOrder {
 public:
  explicit OverlapOrder(const MemoryPlan& plan)
      : plan_(plan), order_(plan.order(MemoryOrder::as_fused)), step_of_(order_) {
    const MemoryPlan::Peak now = plan.peak(order_);
    peak_ = now.peak;
    memory_.resize(order_.size());
    last_user_.assign(plan.buffer_count(), -1);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      memory_[i].after_allocation = now.after_allocation[i];
      memory_[i].after_release = now.after_release[i];
    }
    for (const BufferLife& life : now.lives) {
      memory_[as_index(life.first)].allocated += life.allocated;
      if (life.last < 0) continue;
      memory_[as_index(life.last)].freed += life.freed;
      last_user_[as_index(life.buffer)] = life.last;
    }
  }

  std::vector<Place> run() {
    std::vector<Place> collectives, waits;
    for (const Place place : order_) {
      if (is_collective(place)) collectives.push_back(place);
      if (is_wait(place)) waits.push_back(place);
    }
    for (const Place place : collectives) raise(place);
    std::reverse(waits.begin(), waits.end());
    for (const Place place : waits) sink(place);
    return order_;
  }

 private:
  struct StepMemory {
    std::int64_t allocated = 0, freed = 0;  // by the kernel
    std::int64_t after_allocation = 0, after_release = 0;
  };

  [[nodiscard]] StepMemory& memory(Place place) { return memory_[as_index(place)]; }
  [[nodiscard]] bool is_collective(Place place) const {
    const Op& op = plan_.first_op(place);
    return op.kind == Op::Kind::collective &&
           op.target.find("shard_dim_alltoall") == std::string::npos;
  }
  [[nodiscard]] bool is_wait(Place place) const {
    return plan_.first_op(place).kind == Op::Kind::wait;
  }
  [[nodiscard]] std::optional<Place> neighbour(Place place, int distance) const {
    const std::int64_t at = step_of_[as_index(place)] + distance;
    if (at < 0 || as_index(at) >= order_.size()) return std::nullopt;
    return order_[as_index(at)];
  }
  void swap(Place a, Place b) {
    std::swap(step_of_[as_index(a)], step_of_[as_index(b)]);
    order_[as_index(step_of_[as_index(a)])] = a;
    order_[as_index(step_of_[as_index(b)])] = b;
  }

  void raise(Place collective) {
    while (const std::optional<Place> before = neighbour(collective, -1)) {
      if (plan_.needs(collective, *before) || is_collective(*before)) return;
      if (!move_later(*before, collective)) return;
    }
  }

  void sink(Place wait) {
    while (const std::optional<Place> after = neighbour(wait, 1)) {
      if (plan_.needs(*after, wait) || is_wait(*after)) return;
      if (!move_earlier(*after, wait)) return;
    }
  }

  // Swaps `moved` with `other`, which runs next, unless the peak would increase.
  bool move_later(Place moved, Place other) {
    std::int64_t freed_later = 0;  // buffers of which `moved` becomes the last user
    for (const BufferId id : plan_.reads(moved))
      if (last_user_[as_index(id)] == other) freed_later += plan_.freed(id);
    StepMemory &first = memory(moved), &second = memory(other);
    const std::int64_t difference = first.allocated - first.freed;
    const std::int64_t second_allocated = second.after_allocation - difference;
    const std::int64_t first_allocated =
        second.after_release - difference + freed_later + first.allocated;
    if (std::max(second_allocated, first_allocated) > peak_) return false;
    for (const BufferId id : plan_.reads(moved))
      if (last_user_[as_index(id)] == other) last_user_[as_index(id)] = moved;
    second.freed -= freed_later;
    first.freed += freed_later;
    second.after_allocation = second_allocated;
    second.after_release = second_allocated - second.freed;
    first.after_allocation = first_allocated;
    first.after_release = first_allocated - first.freed;
    swap(moved, other);
    return true;
  }

  // Swaps `moved` with `other`, which runs before it, unless the peak would increase.
  bool move_earlier(Place moved, Place other) {
    std::int64_t freed_later = 0;  // buffers of which `other` becomes the last user
    for (const BufferId id : plan_.reads(moved)) {
      const std::span<const Place> users = plan_.users(id);
      if (last_user_[as_index(id)] == moved &&
          std::find(users.begin(), users.end(), other) != users.end())
        freed_later += plan_.freed(id);
    }
    StepMemory &second = memory(moved), &first = memory(other);
    const std::int64_t before = first.after_allocation - first.allocated;
    const std::int64_t difference = second.allocated - second.freed + freed_later;
    const std::int64_t second_allocated = before + second.allocated;
    const std::int64_t first_allocated = first.after_allocation + difference;
    if (std::max(second_allocated, first_allocated) > peak_) return false;
    second.freed -= freed_later;
    first.freed += freed_later;
    second.after_allocation = second_allocated;
    second.after_release = second_allocated - second.freed;
    first.after_allocation = first_allocated;
    first.after_release = first_allocated - first.freed;
    swap(other, moved);
    return true;
  }

  const MemoryPlan& plan_;
  std::vector<Place> order_;
  std::vector<Place> step_of_;  // by place
  std::int64_t peak_ = 0;
  std::vector<StepMemory> memory_;  // by place
  std::vector<Place> last_user_;    // by buffer; -1: it is not freed
};

}  // namespace

std::vector<Place> overlap_order(const MemoryPlan& plan) {
  return OverlapOrder(plan).run();
}

}  // namespace jointer::kernels
