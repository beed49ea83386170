#pragma once

#include "core/pass/pass.h"

namespace jointer {

// FSDP's all-gathers get a process group, and so a stream, of their own.
Pass reassign_to_pg();

}  // namespace jointer
