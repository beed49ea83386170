#pragma once

// Chooses the GPU of a rank, or explains why the rank cannot use one. Does not use CUDA's headers,
// so it can be tested without them.

#include <cstdint>
#include <string>

#include "core/base/result.h"

namespace jointer::runner {

// The values of cudaComputeMode.
enum class ComputeMode : std::uint8_t { shared = 0, exclusive_thread, prohibited, exclusive };

// `count` is the number of devices that this process sees. `each_task_has_one`: a scheduler may
// have assigned one device to each task; if this process sees only one device, the rank then uses
// it, whatever its local rank. Error (run): there is no device for this rank.
Result<int> choose_device(int local_rank, int count, bool each_task_has_one);

// Returns `error`, which says that a device exists but cannot be used; if the compute mode may be
// the reason, the mode and a remedy follow.
std::string explain_unusable(std::string error, ComputeMode mode);

}  // namespace jointer::runner
