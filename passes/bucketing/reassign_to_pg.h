#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Gives FSDP's all-gathers a separate process group, and so a separate stream.
Pass reassign_to_pg();
// Does the same for every group in which FSDP gathers parameters.
Pass reassign_collective_pgs();

}  // namespace jointer
