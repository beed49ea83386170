#pragma once

#include "core/pass/pass.h"

namespace jointer {

// Merges FSDP's collectives by transformer block, kind and group, and overlaps them with the
// neighboring block.
Pass transformer_block_bucketing();

}  // namespace jointer
