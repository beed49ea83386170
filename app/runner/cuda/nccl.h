#pragma once

#include "app/runner/groups/backend_factory.h"

namespace jointer::runner {

// NCCL, each group on a stream of its own: collectives of tensors on CUDA devices.
const BackendFactory& nccl_collectives();

}  // namespace jointer::runner
