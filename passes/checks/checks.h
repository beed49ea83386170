#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that check a graph and leave it unchanged.
std::vector<Pass> check_passes();

Pass spmd_check_pass();
Pass validate_flex_attn_annotation_pass();

}  // namespace jointer
