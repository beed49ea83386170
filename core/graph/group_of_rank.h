#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"

namespace jointer {

// The group of `rank` that corresponds to `captured`, a group in the capture of any rank. The
// groups of a device mesh are shifted copies of each other that tile the world in order. Returns
// `captured` itself if it contains `rank`. Error (input): `captured` is empty or contains a rank
// that the world lacks, or copies of it do not tile the world up to the copy with `rank`.
Result<std::vector<std::int32_t>> group_of_rank(std::span<const std::int32_t> captured, int rank,
                                                int world_size);

}  // namespace jointer
