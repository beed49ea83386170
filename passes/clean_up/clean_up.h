#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that remove or simplify nodes without changing values.
std::vector<Pass> clean_up_passes();

}  // namespace jointer
