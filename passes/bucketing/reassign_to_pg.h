#pragma once

#include "core/pass/pass.h"

namespace jointer {

// FSDP's all-gathers get a process group, and so a stream, of their own.
Pass reassign_to_pg();
// The same of every group in which FSDP gathers.
Pass reassign_collective_pgs();

}  // namespace jointer
