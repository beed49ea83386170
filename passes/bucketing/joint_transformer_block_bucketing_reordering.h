#pragma once

#include <map>
#include <string>

#include "core/pass/pass.h"
#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/module_plan.h"

namespace jointer {

// For a training step with its forward and its backward in one graph: merges FSDP's collectives of
// each transformer block per kind, group and direction, and overlaps them with the previous block.
Pass joint_transformer_block_bucketing_reordering();

struct BlockBucketOptions {
  bool by_direction = true;         // forward and backward separately
  bool defers_all_reduces = false;  // delays all-reduces of gradients, like reduce-scatters
  BucketForm form = BucketForm::custom_ops;
  std::map<std::string, std::size_t>
      module_order;  // order in which parameters are packed; empty: program order
};
// The same for one half, given a plan and its entries (module_plan.h). Returns true if it changed
// the graph; the caller must then finish it. Error (usage): the order cannot be kept.
Result<bool> bucket_blocks(Graph& graph, PartId part, const ModuleTree& modules,
                           const ModulePlan& plan, const std::vector<std::uint32_t>& entries,
                           const BlockBucketOptions& options, PassContext& context);

}  // namespace jointer
