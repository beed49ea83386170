#include "passes/clean_up/clean_up.h"

namespace jointer {

std::vector<Pass> clean_up_passes() {
  return {
      canonicalize_graph_pass(),
      deduplicate_fsdp_unshard_chains_pass(),
      eliminate_dead_code_pass(),
      replace_view_copy_with_view_pass(),
  };
}

}  // namespace jointer
