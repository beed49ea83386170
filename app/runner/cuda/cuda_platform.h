#pragma once

#include <string>

#include "app/runner/platform.h"

namespace jointer::runner {

// Empty if this machine has a usable CUDA device; otherwise the driver's reason, for example that
// the driver is too old.
std::string why_no_cuda_device();

// The CUDA device of this rank, selected by LOCAL_RANK. Error (run): there is no such device.
Result<std::unique_ptr<Platform>> make_cuda_platform(const PlatformOptions& options);

}  // namespace jointer::runner
