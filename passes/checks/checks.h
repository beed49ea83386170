#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that check a graph and leave it unchanged.
std::vector<Pass> check_passes();

}  // namespace jointer
