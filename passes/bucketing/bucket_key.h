#pragma once

// Which collectives may share a bucket.

#include <cstdint>
#include <string>

#include "core/graph/graph.h"

namespace jointer {

enum class BucketDtypes : std::uint8_t {
  one,     // all members have the same dtype
  several  // all-gathers may have any: they travel as bytes
};

struct BucketRules {
  BucketRules(BucketDtypes of) : dtypes(of) {}  // NOLINT(google-explicit-constructor)
  BucketDtypes dtypes;
  bool takes_buckets = false;  // buckets in torch's form (bucket_calls.h) count as collectives
};

// Collectives with equal keys may share a bucket; empty: none may. An all-gather's key is its group
// and, unless several dtypes may be mixed, its dtype; a reduce-scatter's and an all-reduce's their
// group, reduction and dtype. Coalesced ones have none, nor has an all-gather into a given tensor,
// unless buckets are taken.
// Deviation: upstream's keys of reduce-scatters and all-reduces can be equal, and a bucket of both
// would be wrong; here the operator is part of the key.
std::string bucket_key(const Graph& graph, const Node& start, const BucketRules& rules);

}  // namespace jointer
