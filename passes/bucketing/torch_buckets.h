#pragma once

// Builds the graph of a plan with buckets in torch's form. torch_buckets.cpp describes the steps.

#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/overlap_plan.h"

namespace jointer {

struct TorchBuckets {
  BucketForm form = BucketForm::standard;
  // True: a bucket replaces its last member's start. False: it replaces its first member's start.
  bool after_last = false;
};

// Like with_plan (overlap_plan.h). `names` contains all current and former names; new names are
// added.
Result<PlannedGraph> with_torch_plan(const OverlapGraph& from, const Dependencies& dependencies,
                                     OverlapPlan& plan, const TorchBuckets& buckets,
                                     BucketNames& names);

}  // namespace jointer
