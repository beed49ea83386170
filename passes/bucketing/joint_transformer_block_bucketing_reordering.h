#pragma once

#include <map>
#include <string>

#include "core/pass/pass.h"
#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/module_plan.h"

namespace jointer {

// Merges FSDP's collectives by transformer block, kind, group and direction, and overlaps them with
// the neighboring block. For flat training steps.
Pass joint_transformer_block_bucketing_reordering();

struct BlockBucketOptions {
  bool by_direction = true;         // forward and backward separately
  bool defers_all_reduces = false;  // delays all-reduces, like reduce-scatters
  BucketForm form = BucketForm::custom_ops;
  std::map<std::string, std::size_t>
      module_order;  // order in which parameters are packed; empty: program order
};
// Merges and overlaps the collectives of one half, given a plan and each node's entry
// (entries_by_node). Returns true if the graph changed; the caller must then call finish(). Error
// (usage): the new order would break dependencies.
Result<bool> bucket_blocks(Graph& graph, PartId part, const ModuleTree& modules,
                           const ModulePlan& plan, const std::vector<std::uint32_t>& entries,
                           const BlockBucketOptions& options, PassContext& context);

}  // namespace jointer
