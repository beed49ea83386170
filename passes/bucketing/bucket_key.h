#pragma once

// Keys that determine which collectives may share a bucket.

#include <cstdint>
#include <string>

#include "core/graph/graph.h"

namespace jointer {

enum class BucketDtypes : std::uint8_t {
  one,     // all members have the same dtype
  several  // all-gathers may mix dtypes
};

struct BucketRules {
  BucketRules(BucketDtypes of) : dtypes(of) {}  // NOLINT(google-explicit-constructor)
  BucketDtypes dtypes;
  bool takes_buckets = false;  // buckets in torch's form (bucket_calls.h) count as collectives
};

// Collectives with equal keys may share a bucket. A collective with an empty key may not join any
// bucket. The key of an all-gather consists of its operator, its group and, unless dtypes may be
// mixed, its dtype; the key of a reduce-scatter or an all-reduce consists of its operator, group,
// reduction and dtype. The key is empty for other collectives, for collectives of several tensors
// or without the name of a group, and, unless `takes_buckets` is set, for all-gathers into a given
// tensor. Deviation: in upstream, a reduce-scatter and an all-reduce can have equal keys, although
// a bucket of both would be wrong; here the operator is part of the key.
std::string bucket_key(const Graph& graph, const Node& start, const BucketRules& rules);

}  // namespace jointer
