#pragma once

#include "app/runner/platform.h"

namespace jointer::runner {

// The CUDA device of this rank: LOCAL_RANK's. Error (run): there is none.
Result<std::unique_ptr<Platform>> make_cuda_platform(const PlatformOptions& options);

}  // namespace jointer::runner
