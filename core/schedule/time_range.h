#pragma once

#include <cstdint>

namespace jointer {

// An interval [begin, end) of the simulated step, in nanoseconds from the start of the step.
struct TimeRange {
  std::int64_t begin = 0, end = 0;

  [[nodiscard]] std::int64_t length() const { return end - begin; }
  friend bool operator==(const TimeRange&, const TimeRange&) = default;
};

}  // namespace jointer
