#include "core/kernels/order_memory.h"

#include <algorithm>

#include "core/base/index.h"

namespace jointer::kernels {

OrderMemory::OrderMemory(const MemoryPlan& plan) : plan_(plan) {
  const std::vector<Place> order = plan.order(MemoryOrder::as_fused);
  const MemoryPlan::Peak now = plan.peak(order);
  peak_ = now.peak;
  steps_.resize(order.size());
  in_group_.assign(order.size(), -1);
  last_user_.assign(plan.buffer_count(), -1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    steps_[i].after_allocation = now.after_allocation[i];
    steps_[i].after_release = now.after_release[i];
  }
  for (const BufferLife& life : now.lives) {
    steps_[as_index(life.first)].allocated += life.allocated;
    if (life.last < 0) continue;
    steps_[as_index(life.last)].freed += life.freed;
    last_user_[as_index(life.buffer)] = life.last;
  }
}

void OrderMemory::begin(std::span<const Place> group) {
  changes_.clear();
  last_used_later_.clear();
  for (const Place place : group) {
    in_group_[as_index(place)] = static_cast<std::int32_t>(changes_.size());
    changes_.push_back({place});
  }
}

void OrderMemory::end(std::span<const Place> group) {
  for (const Place place : group) in_group_[as_index(place)] = -1;
}

std::int64_t OrderMemory::peak_if_later(Place moved, std::span<const Place> group,
                                        std::int64_t group_peak) {
  begin(group);
  moved_ = moved;
  std::int64_t freed_later = 0;
  for (const BufferId id : plan_.reads(moved)) {
    const Place last = last_user_[as_index(id)];
    if (last < 0 || in_group_[as_index(last)] < 0) continue;
    changes_[as_index(in_group_[as_index(last)])].more_freed -= plan_.freed(id);
    freed_later += plan_.freed(id);
    last_used_later_.push_back(id);
  }
  end(group);
  const Step& own = (*this)[moved];
  std::int64_t change = own.freed - own.allocated;
  std::int64_t max_bytes = last_used_later_.empty() ? group_peak + change : 0;
  for (Change& each : changes_) {
    each.after_allocation = (*this)[each.place].after_allocation + change;
    if (!last_used_later_.empty()) max_bytes = std::max(max_bytes, each.after_allocation);
    change -= each.more_freed;
  }
  const std::int64_t then = (*this)[group.back()].after_release + change + own.allocated;
  changes_.push_back({moved, then, freed_later});
  return std::max(max_bytes, then);
}

std::int64_t OrderMemory::peak_if_earlier(Place moved, std::span<const Place> group,
                                          std::int64_t group_peak) {
  begin(group);
  moved_ = moved;
  std::int64_t freed_before = 0;
  bool is_any_changed = false;
  for (const BufferId id : plan_.reads(moved)) {
    if (last_user_[as_index(id)] != moved) continue;
    std::int32_t last = -1;
    for (const Place user : plan_.users(id)) last = std::max(last, in_group_[as_index(user)]);
    if (last < 0) continue;
    changes_[as_index(last)].more_freed += plan_.freed(id);
    freed_before += plan_.freed(id);
    is_any_changed = true;
  }
  end(group);
  const Step &own = (*this)[moved], &head = (*this)[group.front()];
  const std::int64_t now = head.after_allocation - head.allocated + own.allocated;
  std::int64_t change = own.allocated - own.freed + freed_before;
  std::int64_t max_bytes = is_any_changed ? now : std::max(now, group_peak + change);
  for (Change& each : changes_) {
    each.after_allocation = (*this)[each.place].after_allocation + change;
    if (is_any_changed) max_bytes = std::max(max_bytes, each.after_allocation);
    change -= each.more_freed;
  }
  changes_.push_back({moved, now, -freed_before});
  return max_bytes;
}

void OrderMemory::accept() {
  for (const BufferId id : last_used_later_) last_user_[as_index(id)] = moved_;
  for (const Change& each : changes_) {
    Step& step = steps_[as_index(each.place)];
    step.freed += each.more_freed;
    step.after_allocation = each.after_allocation;
    step.after_release = each.after_allocation - step.freed;
  }
}

}  // namespace jointer::kernels
