#pragma once

// Formats the two ends of a range, so that a reader sees which is larger and by how much.

#include <cstdint>
#include <string>

namespace jointer {

struct RangeText {
  std::string begin, end;
};

// Formats both ends, given in nanoseconds, in the unit of the larger one and with the same number
// of decimals; 0 has none. The larger one has three significant digits (three decimals in seconds),
// or more if their difference is smaller than the unit of the last digit: "334.12 ms" and
// "334.15 ms". Neither shows fractions of a nanosecond.
RangeText format_ns_range(std::int64_t begin, std::int64_t end);

}  // namespace jointer
