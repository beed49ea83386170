#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Several collectives become one.
std::vector<Pass> bucketing_passes();

}  // namespace jointer
