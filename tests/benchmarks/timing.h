#pragma once

// Clocks and percentiles for benchmarks.

#include <algorithm>
#include <ctime>
#include <span>
#include <vector>

namespace jointer::benchmarks {

inline double now_ms(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// CPU time of this thread, in milliseconds: other work on a busy machine does not count.
inline double processor_ms() {
  return now_ms(CLOCK_THREAD_CPUTIME_ID);
}

double milliseconds_of_processor(const auto& action) {
  const double start = processor_ms();
  action();
  return processor_ms() - start;
}

// 0 if there are no values.
inline double percentile(std::span<const double> values, double share) {
  if (values.empty()) return 0;
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace jointer::benchmarks
