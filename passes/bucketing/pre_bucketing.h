#pragma once

// Merges FSDP's collectives, before scheduling, into buckets that are large enough to use their
// links well. pre_bucketing.cpp describes the steps.

#include <optional>
#include <string>
#include <vector>

#include "core/cost/torch_nccl_2_15.h"
#include "passes/bucketing/torch_buckets.h"

namespace jointer {

struct PreBucketingOptions {
  std::optional<double> cap_mib;   // nullopt: enough to use the group's links well
  NcclLinks links;                 // of the device
  std::optional<BucketForm> form;  // none: core/edit/merge.h makes the buckets
};

struct PreBucketed {
  Graph graph;
  struct Bucket {
    NodeId start;                 // in `graph`
    std::vector<NodeId> members;  // the members' starts, in the original graph
  };
  std::vector<Bucket> buckets;
  std::int64_t cap_bytes = 0;
};

// Returns std::nullopt if no group gathers parameters, or if there is nothing to merge. `names` is
// as in with_torch_plan. Errors are those of with_plan or, if `form` is given, of with_torch_plan.
Result<std::optional<PreBucketed>> pre_bucket_fsdp(const Graph& graph, PartId part,
                                                   const PreBucketingOptions& options,
                                                   BucketNames& names);

}  // namespace jointer
