#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Expert parallelism: exchanges of tokens beside compute of the other half of a chunked module.
std::vector<Pass> ep_overlap_passes();

}  // namespace jointer
