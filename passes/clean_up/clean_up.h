#pragma once

#include <vector>

#include "core/pass/pass.h"

namespace jointer {

// Passes that remove or simplify nodes without changing values.
std::vector<Pass> clean_up_passes();

Pass canonicalize_graph_pass();
Pass deduplicate_fsdp_unshard_chains_pass();
Pass eliminate_dead_code_pass();
Pass replace_view_copy_with_view_pass();

}  // namespace jointer
