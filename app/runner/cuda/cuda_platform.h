#pragma once

#include <string>

#include "app/runner/platform.h"

namespace jointer::runner {

// Empty if torch finds a CUDA device; otherwise torch's reason, for example that the driver is too
// old.
std::string why_no_cuda_device();

// The CUDA device of this rank, selected by its local rank (choose_device). Error (run): there is
// no such device, or it cannot be used.
Result<std::unique_ptr<Platform>> make_cuda_platform(const PlatformOptions& options);

}  // namespace jointer::runner
