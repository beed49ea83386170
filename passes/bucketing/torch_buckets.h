#pragma once

// Builds the graph of a plan with buckets in torch's form. torch_buckets.cpp describes the steps.

#include "passes/bucketing/bucket_calls.h"
#include "passes/bucketing/overlap_plan.h"

namespace jointer {

struct TorchBuckets {
  BucketForm form = BucketForm::standard;
  bool after_last = false;  // a bucket replaces its last member's start; false: its first member's
};

// Like with_plan (overlap_plan.h). `names` holds all current and former names; new ones are added.
Result<PlannedGraph> with_torch_plan(const OverlapGraph& from, const Dependencies& dependencies,
                                     OverlapPlan& plan, const TorchBuckets& buckets,
                                     BucketNames& names);

}  // namespace jointer
