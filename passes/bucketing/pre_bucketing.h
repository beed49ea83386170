#pragma once

// FSDP's collectives in buckets that are large enough for their links, before they are scheduled.
// How is at the top of pre_bucketing.cpp.

#include <optional>
#include <string>
#include <vector>

#include "core/cost/torch_nccl_2_15.h"
#include "passes/bucketing/torch_buckets.h"

namespace jointer {

struct PreBucketingOptions {
  std::optional<double> cap_mib;   // none: what the links of the group are busy with
  NcclLinks links;                 // of the device
  std::optional<BucketForm> form;  // none: that of core/edit/merge.h
};

struct PreBucketed {
  Graph graph;
  struct Bucket {
    NodeId start;                 // in `graph`
    std::vector<NodeId> members;  // their starts, in the graph that was given
  };
  std::vector<Bucket> buckets;
  std::int64_t cap_bytes = 0;
};

// Nothing: there is no group that gathers parameters, or nothing to merge in it. `names`: as
// with_torch_plan's.
Result<std::optional<PreBucketed>> pre_bucket_fsdp(const Graph& graph, PartId part,
                                                   const PreBucketingOptions& options,
                                                   BucketNames& names);

}  // namespace jointer
