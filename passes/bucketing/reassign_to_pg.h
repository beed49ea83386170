#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Gives FSDP's all-gathers a separate process group, and so a separate stream.
Pass reassign_to_pg();
// The same for every group in which FSDP gathers.
Pass reassign_collective_pgs();

}  // namespace jointer
