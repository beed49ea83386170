#include "passes/kernel_order/exposed_time.h"

#include <algorithm>

#include "core/base/index.h"

namespace jointer {

bool ExposedTimes::reads(KernelUnit reader, KernelUnit maker) const {
  const std::span<const KernelUnit> before = units_.before(reader);
  return std::find(before.begin(), before.end(), maker) != before.end();
}

ExposedTime ExposedTimes::of_collective(std::size_t place) const {
  const KernelUnit collective = order_[place];
  ExposedTime time{.communication = ms_[as_index(collective)]};
  for (std::size_t i = place + 1; i < order_.size(); ++i) {
    const KernelUnit unit = order_[i];
    if (reads(unit, collective)) {
      time.end = unit;
      break;
    }
    if (units_.is_collective(unit)) {
      if (!units_.is_asynchronous(unit)) break;
      continue;
    }
    time.compute += ms_[as_index(unit)];
    ++time.kernels;
  }
  return time;
}

ExposedTime ExposedTimes::of_wait(std::size_t place) {
  const KernelUnit wait = order_[place];
  ++stamp_;
  ExposedTime time;
  for (std::size_t i = place; i-- > 0;) {
    const KernelUnit unit = order_[i];
    if (units_.is_wait(unit))
      for (const KernelUnit waited : units_.before(unit)) stamps_[as_index(waited)] = stamp_;
    if (units_.is_collective(unit)) {
      if (reads(wait, unit)) {
        time.communication = ms_[as_index(unit)];
        time.end = unit;
        break;
      }
      if (!units_.is_asynchronous(unit) || stamps_[as_index(unit)] == stamp_) time.compute = 0;
      continue;
    }
    time.compute += ms_[as_index(unit)];
    ++time.kernels;
  }
  return time;
}

}  // namespace jointer
