#pragma once

#include "core/pass/pass.h"

namespace jointer {

// FSDP's collectives of each transformer block become one a kind, group and direction, and run
// beside the block before: of a step that has its forward and its backward in one graph.
Pass joint_transformer_block_bucketing_reordering();

}  // namespace jointer
