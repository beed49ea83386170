#pragma once

#include "app/runner/platform.h"

namespace jointer::runner {

// The CUDA device of this rank, by LOCAL_RANK. Error (run): there is none.
Result<std::unique_ptr<Platform>> make_cuda_platform(const PlatformOptions& options);

}  // namespace jointer::runner
