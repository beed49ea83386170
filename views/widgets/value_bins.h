#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace jointer::views {

// A bar of a histogram: values [first, last) of the sorted values, all of which are in [low, high].
struct ValueBin {
  std::int64_t low = 0, high = 0;
  std::size_t first = 0, last = 0;

  [[nodiscard]] std::size_t count() const { return last - first; }
};

// At most `max_bins` bins from the smallest to the largest value in `sorted`. No value may be
// negative. Bins have equal widths or, if the values differ by more than a factor of 30, equal
// ratios. Bins other than the first and the last may be empty. If all values are equal, there is
// one bin.
std::vector<ValueBin> value_bins(std::span<const std::int64_t> sorted, std::size_t max_bins);

}  // namespace jointer::views
