#pragma once

#include "core/pass/pass.h"

namespace jointer {

// FSDP's collectives of each transformer block become one a kind and group, and run beside the
// block before.
Pass transformer_block_bucketing();

}  // namespace jointer
