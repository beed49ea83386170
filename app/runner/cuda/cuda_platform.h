#pragma once

#include <string>

#include "app/runner/platform.h"

namespace jointer::runner {

// The reason that torch gives for finding no CUDA device, for example that the driver is too old;
// empty if it finds one.
std::string why_no_cuda_device();

// The CUDA device of this rank, selected by its local rank (choose_device). Error (run): there is
// no such device, or it cannot be used.
Result<std::unique_ptr<Platform>> make_cuda_platform(const PlatformOptions& options);

}  // namespace jointer::runner
