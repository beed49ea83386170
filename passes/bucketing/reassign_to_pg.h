#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Moves FSDP's all-gathers to a separate process group, which has a separate stream.
Pass reassign_to_pg();
// Does the same for every group in which FSDP gathers parameters.
Pass reassign_collective_pgs();

}  // namespace jointer
