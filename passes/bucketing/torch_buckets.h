#pragma once

// The graph of a plan, with its buckets in torch's form. How is at the top of torch_buckets.cpp.

#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/overlap_plan.h"

namespace jointer {

struct TorchBuckets {
  BucketForm form = BucketForm::standard;
  bool behind_last = false;  // a bucket stands where its last member started, else its first
};

// As with_plan (overlap_plan.h). `names`: those that are taken, and were; new ones are added.
Result<PlannedGraph> with_torch_plan(const OverlapGraph& from, const Dependencies& dependencies,
                                     OverlapPlan& plan, const TorchBuckets& buckets,
                                     BucketNames& names);

}  // namespace jointer
