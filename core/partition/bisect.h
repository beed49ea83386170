#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

namespace jointer {

// Returns the smallest n in 1..count for which `holds(n)` is true, or nullopt. If it is true for
// one n, it must be true for all larger n. Doubles n, then bisects.
template <class Holds>
std::optional<std::size_t> first_that_holds(std::size_t count, const Holds& holds) {
  if (count == 0) return std::nullopt;
  std::size_t low = 0, high = 1;
  while (!holds(high)) {
    if (high == count) return std::nullopt;
    low = high;
    high = std::min(2 * high, count);
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

// Returns the largest n in 1..count for which `holds(n)` is true, or 0. If it is true for one n, it
// must be true for all smaller n.
template <class Holds>
std::size_t last_that_holds(std::size_t count, const Holds& holds) {
  const auto first = first_that_holds(count, [&](std::size_t n) { return !holds(n); });
  return first ? *first - 1 : count;
}

}  // namespace jointer
