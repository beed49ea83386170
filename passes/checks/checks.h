#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// What changes nothing and refuses graphs that a later step cannot take.
std::vector<Pass> check_passes();

}  // namespace jointer
