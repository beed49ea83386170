#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// The same nodes in another order.
std::vector<Pass> reordering_passes();

}  // namespace jointer
