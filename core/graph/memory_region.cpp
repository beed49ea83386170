// Decides whether two regions of a storage overlap.
//
// Terms. Run: contiguous bytes. Region: a run that repeats along axes. Period: the largest step of
// the two regions.
//
// Two regions are disjoint if one ends before the other begins. If neither does, each is folded:
// taken modulo the period, which puts its rows on top of each other and removes one axis. If the
// folded regions are disjoint, so are the regions. This separates slices of any dimension, and of
// several dimensions at once. A region that crosses the end of its period cannot be folded and
// counts as overlapping, unless it consists of runs with a step that divides the period: such a
// region is folded by that step, and repeats throughout the period.
//
// Cost: quadratic in the tensors' rank.

#include "core/graph/memory_region.h"

#include <algorithm>

#include "core/base/checked.h"

namespace jointer {

MemoryRegion::MemoryRegion(const Graph& graph, const Tensor& tensor) {
  if (!tensor.storage || !tensor.has(Tensor::has_stride) || !tensor.has(Tensor::has_offset) ||
      graph.real_storage(tensor.storage) != tensor.storage ||
      graph.captured_storage(tensor) != tensor.storage)
    return;
  const auto shape = graph.shape(tensor), stride = graph.stride(tensor);
  const Dim offset = graph.offset(tensor);
  const std::int64_t item = item_size(tensor.dtype);
  const auto start = checked_mul(offset.value, item);
  if (offset.expression || !start || *start < 0) return;
  std::vector<Axis> axes;
  std::int64_t last = *start;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i].expression || stride[i].expression || shape[i].value <= 0 || stride[i].value < 0)
      return;
    const auto step = checked_mul(stride[i].value, item);
    const auto length = step ? checked_mul(shape[i].value - 1, *step) : std::nullopt;
    const auto end = length ? checked_add(last, *length) : std::nullopt;
    if (!end || !checked_add(*end, item)) return;
    last = *end;
    if (*length > 0) axes.push_back({.count = shape[i].value, .step = *step});
  }
  std::ranges::sort(axes, {}, &Axis::step);
  run_ = item;
  for (const Axis& axis : axes)
    if (axes_.empty() && axis.step == run_)
      run_ *= axis.count;
    else if (!axes_.empty() && axis.step == axes_.back().step * axes_.back().count)
      axes_.back().count *= axis.count;
    else
      axes_.push_back(axis);
  start_ = *start;
  is_whole_ = false;
}

std::int64_t MemoryRegion::extent() const {
  std::int64_t bytes = run_;
  for (const Axis& axis : axes_) bytes += (axis.count - 1) * axis.step;
  return bytes;
}

bool MemoryRegion::fold(std::int64_t period) {
  if (!axes_.empty() && axes_.back().step == period) axes_.pop_back();
  start_ %= period;
  if (start_ + extent() <= period) return true;
  if (axes_.empty() || period % axes_.back().step != 0) return false;
  start_ %= axes_.back().step;
  axes_.back().count = period / axes_.back().step;
  return start_ + extent() <= period;
}

bool MemoryRegion::may_overlap(const MemoryRegion& other) const {
  if (is_whole_ || other.is_whole_) return true;
  MemoryRegion a = *this, b = other;
  while (true) {
    if (a.start_ + a.extent() <= b.start_ || b.start_ + b.extent() <= a.start_) return false;
    std::int64_t period = 0;
    for (const MemoryRegion* region : {&a, &b})
      if (!region->axes_.empty()) period = std::max(period, region->axes_.back().step);
    if (period == 0 || !a.fold(period) || !b.fold(period)) return true;
  }
}

bool MemoryRegion::covers(const MemoryRegion& other) const {
  if (is_whole_ || *this == other) return true;
  return !other.is_whole_ && axes_.empty() && start_ <= other.start_ &&
         other.start_ + other.extent() <= start_ + run_;
}

}  // namespace jointer
