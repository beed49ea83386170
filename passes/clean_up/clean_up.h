#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that remove nodes and keep values equal.
std::vector<Pass> clean_up_passes();

}  // namespace jointer
