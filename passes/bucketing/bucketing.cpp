#include "passes/bucketing/bucketing.h"

#include "passes/bucketing/joint_transformer_block_bucketing_reordering.h"

namespace jointer {

std::vector<Pass> bucketing_passes() {
  return {autobucketing_reordering(),
          greedy_bucketing_by_mb(),
          joint_transformer_block_bucketing_reordering(),
          reassign_collective_pgs(),
          reassign_to_pg(),
          transformer_block_bucketing()};
}

}  // namespace jointer
