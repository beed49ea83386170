#pragma once

#include "app/runner/groups/backend_factory.h"

namespace jointer::runner {

// NCCL, with one stream per group, for collectives of tensors on CUDA devices.
const BackendFactory& nccl_collectives();

}  // namespace jointer::runner
