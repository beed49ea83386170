#pragma once

#include "app/runner/platform.h"

namespace jointer::runner {

// The CUDA device of this rank, selected by LOCAL_RANK. Error (run): there is no such device.
Result<std::unique_ptr<Platform>> make_cuda_platform(const PlatformOptions& options);

}  // namespace jointer::runner
