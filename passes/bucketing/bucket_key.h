#pragma once

// Keys for collectives: those with the same key may share a bucket.

#include <cstdint>
#include <string>

#include "core/graph/graph.h"

namespace jointer {

enum class BucketDtypes : std::uint8_t {
  one,     // all members have the same dtype
  several  // all-gathers may mix dtypes: they travel as bytes
};

struct BucketRules {
  BucketRules(BucketDtypes of) : dtypes(of) {}  // NOLINT(google-explicit-constructor)
  BucketDtypes dtypes;
  bool takes_buckets = false;  // buckets in torch's form (bucket_calls.h) count as collectives
};

// Collectives with equal keys may share a bucket; one with an empty key may not be bucketed. The
// key of an all-gather is its group and, unless dtypes may be mixed, its dtype; that of a
// reduce-scatter or an all-reduce is its group, reduction and dtype. The key is empty for coalesced
// collectives and, unless `takes_buckets`, for all-gathers into a given tensor. Deviation:
// upstream's keys of reduce-scatters and all-reduces can be equal, and a bucket of both would be
// wrong; here the operator is part of the key.
std::string bucket_key(const Graph& graph, const Node& start, const BucketRules& rules);

}  // namespace jointer
