#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes for FSDP's parameter all-gathers and gradient reductions.
std::vector<Pass> fsdp_passes();

}  // namespace jointer
