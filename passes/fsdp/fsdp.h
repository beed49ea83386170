#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// What becomes of gathered parameters.
std::vector<Pass> fsdp_passes();

}  // namespace jointer
