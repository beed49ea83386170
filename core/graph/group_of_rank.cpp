#include "core/graph/group_of_rank.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/base/counted.h"

namespace jointer {

Result<std::vector<std::int32_t>> group_of_rank(std::span<const std::int32_t> captured, int rank,
                                                int world_size) {
  const auto unfit = [&] {
    return input_error(
        "the group [{}] of the capture cannot be mapped to rank {} of {}; give each rank its own "
        "capture, named NAME.rank{{rank}}.json.zst",
        fmt::join(captured, ", "), rank, world_size);
  };
  if (captured.empty()) return unfit();
  if (*std::ranges::max_element(captured) >= world_size)
    return input_error(
        "the group [{}] of the capture needs more than {}; run more ranks, or one alone with "
        "--solo RANK",
        fmt::join(captured, ", "), counted(static_cast<std::size_t>(world_size), "rank"));
  if (std::ranges::find(captured, rank) != captured.end())
    return std::vector<std::int32_t>(captured.begin(), captured.end());
  // Place shifted copies of the group one after another, each at the lowest free rank.
  const std::int32_t base = *std::ranges::min_element(captured);
  std::vector<bool> taken(static_cast<std::size_t>(world_size), false);
  for (int first = 0; first < world_size; ++first) {
    if (taken[static_cast<std::size_t>(first)]) continue;
    std::vector<std::int32_t> copy;
    for (const std::int32_t member : captured) {
      const std::int64_t shifted = std::int64_t{member} - base + first;
      if (shifted >= world_size || taken[static_cast<std::size_t>(shifted)]) return unfit();
      taken[static_cast<std::size_t>(shifted)] = true;
      copy.push_back(static_cast<std::int32_t>(shifted));
    }
    if (std::ranges::find(copy, rank) != copy.end()) return copy;
  }
  return unfit();
}

}  // namespace jointer
