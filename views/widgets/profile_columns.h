#pragma once

// Reduces a memory profile to a few pixels, for small curves without an axis. Does not use Qt.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace jointer::views {

// The maximum in each of `width` columns; all points of the profile have the same width.
inline std::vector<std::int64_t> max_by_column(std::span<const std::int64_t> profile,
                                               std::size_t width) {
  std::vector<std::int64_t> columns(width, 0);
  if (profile.empty()) return columns;
  for (std::size_t x = 0; x < width; ++x) {
    const std::size_t first = std::min(x * profile.size() / width, profile.size() - 1);
    const std::size_t last = std::max((x + 1) * profile.size() / width, first + 1);
    columns[x] = *std::max_element(profile.begin() + static_cast<std::ptrdiff_t>(first),
                                   profile.begin() + static_cast<std::ptrdiff_t>(last));
  }
  return columns;
}

}  // namespace jointer::views
