#pragma once

// Formats the two ends of a range, so that a reader sees which is larger and by how much.

#include <cstdint>
#include <string>

namespace jointer {

struct RangeText {
  std::string begin, end;
};

// Both ends in the unit of the larger one, with three significant digits, or more if the ends would
// otherwise look the same: "334.12 ms" and "334.15 ms". `begin` and `end` are in nanoseconds; equal
// ends have equal texts.
RangeText format_ns_range(std::int64_t begin, std::int64_t end);

}  // namespace jointer
