#pragma once

#include "core/pass/pipeline_text.h"

namespace jointer {

// Upstream's rules for the order of passes: cudagraph is the last one; the two bucketings exclude
// each other; full Inductor needs inductor_decomposition before it. Of the enabled steps. Source:
// torchtitan's validate_pass_names. Error (usage): one sentence.
Result<void> check_order(const Pipeline& pipeline);

}  // namespace jointer
