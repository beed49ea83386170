#pragma once

#include <string>
#include <vector>

#include "core/bench/event.h"

namespace jointer {

// Reasons to doubt figures that were measured on a GPU in this state: errors of its memory, and
// other processes that compute on it or use at least 1 GiB of its memory. Each reason is a note for
// the user.
std::vector<std::string> gpu_doubts(const GpuState& gpu);

}  // namespace jointer
