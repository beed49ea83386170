#pragma once

#include <string>

#include "app/runner/groups/backend_factory.h"

namespace jointer::runner {

// NCCL, with one stream per process group, for collectives of tensors on CUDA devices.
const BackendFactory& nccl_collectives();

std::string nccl_version();  // "2.28.9"

}  // namespace jointer::runner
