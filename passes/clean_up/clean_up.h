#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Fewer nodes, the same values.
std::vector<Pass> clean_up_passes();

}  // namespace jointer
