#include "core/bench/kernel_time.h"

#include <algorithm>

namespace jointer {

std::int64_t busy_ns(std::span<const MeasuredKernel> kernels) {
  std::int64_t busy = 0, end = 0;
  for (const MeasuredKernel& kernel : kernels) {
    busy += std::max<std::int64_t>(0, kernel.end_ns - std::max(kernel.start_ns, end));
    end = std::max(end, kernel.end_ns);
  }
  return busy;
}

bool is_bound_by_launches(std::int64_t busy_ns, std::int64_t step_ns) {
  constexpr double kBusy = 0.8;
  return step_ns > 0 && static_cast<double>(busy_ns) < kBusy * static_cast<double>(step_ns);
}

}  // namespace jointer
