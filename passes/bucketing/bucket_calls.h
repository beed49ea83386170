#pragma once

// The calls that stand for a bucket of collectives in torch: members packed, one collective, and
// its result taken apart. How is at the top of bucket_calls.cpp.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "core/partition/fx_names.h"
#include "passes/bucketing/bucket_levels.h"

namespace jointer {

// torch's bucket modes. In all of them an all-reduce is made of plain calls.
enum class BucketForm : std::uint8_t {
  standard,    // `default`: members are packed and taken apart by plain calls
  custom_ops,  // operators of torch's own pack the members
  coalesced,   // a reduce-scatter takes the members as a list; an all-gather is as in `standard`
};

// Names of calls as torch gives them, which traces each bucket for itself and then copies it into
// the graph.
class BucketNames {
 public:
  BucketNames(const Graph& graph, PartId part);
  void begin_bucket();
  std::string fresh(std::string_view base);

 private:
  TorchVersion torch_;
  FxNames graph_, traced_;
};

// A member's tensors, as a bucket needs them.
struct BucketMember {
  NodeId start, wait;
  NodeId source;  // what is packed: the start's input, or what a cast that goes reads
  NodeId cast;    // that cast, if any
  DType dtype = DType::float32;          // of what the start returns
  std::int64_t elements = 0;             // of the input
  std::vector<std::int64_t> in, result;  // shapes of the input and of the result
};

// Error (usage): why the collective fits in no bucket, as the end of a sentence. `reads`: how many
// read its input.
Result<BucketMember> read_bucket_member(const Graph& graph, const WaitedCollective& collective,
                                        std::size_t reads);

struct BucketCalls {
  NodeId start;
  std::vector<NodeId> waits;    // one; where the start takes a list, one a member
  std::vector<NodeId> ahead;    // all that stands ahead of the first wait
  std::vector<NodeId> behind;   // the rest
  std::vector<NodeId> results;  // one a member
};
// Adds them to the end of the graph. Members are of one kind, group and reduction, and of one dtype
// but for all-gathers in `custom_ops`.
BucketCalls write_bucket(Graph& graph, BucketNames& names, std::span<const BucketMember> members,
                         BucketForm form);

}  // namespace jointer
