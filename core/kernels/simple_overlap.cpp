#include "core/kernels/simple_overlap.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/index.h"
#include "core/kernels/order_memory.h"

namespace jointer::kernels {

namespace {

class OverlapOrder {
 public:
  explicit OverlapOrder(const MemoryPlan& plan)
      : plan_(plan), order_(plan.order(MemoryOrder::as_fused)), step_of_(order_), memory_(plan) {}

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
  [[nodiscard]] bool is_collective(Place place) const {
    const Op& op = plan_.first_op(place);
    return op.kind == Op::Kind::collective &&
           op.target.find("shard_dim_alltoall") == std::string::npos;
  }
  [[nodiscard]] bool is_wait(Place place) const {
    return plan_.first_op(place).kind == Op::Kind::wait;
  }
  [[nodiscard]] std::optional<Place> neighbor(Place place, int distance) const {
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
    while (const std::optional<Place> before = neighbor(collective, -1)) {
      if (plan_.needs(collective, *before) || is_collective(*before)) return;
      if (!move_later(*before, collective)) return;
    }
  }

  void sink(Place wait) {
    while (const std::optional<Place> after = neighbor(wait, 1)) {
      if (plan_.needs(*after, wait) || is_wait(*after)) return;
      if (!move_earlier(*after, wait)) return;
    }
  }

  // Swaps `moved` with `other`, which runs next, unless the peak would increase.
  bool move_later(Place moved, Place other) {
    if (memory_.peak_if_later(moved, {&other, 1}, memory_[other].after_allocation) > memory_.peak())
      return false;
    memory_.accept();
    swap(moved, other);
    return true;
  }

  // Swaps `moved` with `other`, which runs before it, unless the peak would increase.
  bool move_earlier(Place moved, Place other) {
    if (memory_.peak_if_earlier(moved, {&other, 1}, memory_[other].after_allocation) >
        memory_.peak())
      return false;
    memory_.accept();
    swap(other, moved);
    return true;
  }

  const MemoryPlan& plan_;
  std::vector<Place> order_;
  std::vector<Place> step_of_;  // by place
  OrderMemory memory_;
};

}  // namespace

std::vector<Place> overlap_order(const MemoryPlan& plan) {
  return OverlapOrder(plan).run();
}

}  // namespace jointer::kernels
