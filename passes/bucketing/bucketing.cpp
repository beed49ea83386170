#include "passes/bucketing/bucketing.h"

#include "passes/bucketing/autobucketing_reordering.h"
#include "passes/bucketing/greedy_bucketing_by_mb.h"
#include "passes/bucketing/joint_transformer_block_bucketing_reordering.h"
#include "passes/bucketing/reassign_to_pg.h"
#include "passes/bucketing/transformer_block_bucketing.h"

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
