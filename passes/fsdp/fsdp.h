#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for FSDP's gathered parameters and reduced gradients.
std::vector<Pass> fsdp_passes();

}  // namespace jointer
