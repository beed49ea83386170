#pragma once

#include <map>
#include <string>

#include "core/pass/pass.h"
#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/module_plan.h"

namespace jointer {

// FSDP's collectives of each transformer block become one a kind, group and direction, and run
// beside the block before: of a step that has its forward and its backward in one graph.
Pass joint_transformer_block_bucketing_reordering();

struct BlockBucketOptions {
  bool by_direction = true;         // forward and backward each for itself
  bool defers_all_reduces = false;  // those of gradients, as reduce-scatters
  BucketForm form = BucketForm::custom_ops;
  std::map<std::string, std::size_t>
      module_order;  // how parameters are packed; empty: as they come
};
// The same for one half, by a plan and its entries (module_plan.h). Whether it changed the graph,
// which the caller finishes. Error (usage): the order cannot be kept.
Result<bool> bucket_blocks(Graph& graph, PartId part, const ModuleTree& modules,
                           const ModulePlan& plan, const std::vector<std::uint32_t>& entries,
                           const BlockBucketOptions& options, PassContext& context);

}  // namespace jointer
