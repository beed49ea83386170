#pragma once

// Writes the calls that torch creates for a bucket of collectives: they pack the members, run one
// collective, and unpack its result. bucket_calls.cpp describes them.

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

// torch's bucket modes. All of them use plain calls for an all-reduce.
enum class BucketForm : std::uint8_t {
  standard,    // `default`: plain calls pack and unpack the members
  custom_ops,  // torch's custom operators pack the members
  coalesced,   // a reduce-scatter reads the members as a list; an all-gather is as in `standard`
};

// Names calls as torch does, which traces each bucket separately and then copies it into the graph.
class BucketNames {
 public:
  BucketNames(const Graph& graph, PartId part);
  void begin_bucket();
  std::string fresh(std::string_view base);

 private:
  TorchVersion torch_;
  FxNames graph_, traced_;
};

// The tensors of a member.
struct BucketMember {
  NodeId start, wait;
  NodeId source;                 // the packed tensor: the start's input, or a removed cast's input
  NodeId cast;                   // that cast, if any
  DType dtype = DType::float32;  // of the start's result
  std::int64_t elements = 0;     // of `source`
  std::vector<std::int64_t> in, result;  // shapes of `source` and of the result
};

// `reads`: the number of nodes that read the collective's input. Error (usage): the collective fits
// in no bucket; the message is the reason, as the end of a sentence.
Result<BucketMember> read_bucket_member(const Graph& graph, const WaitedCollective& collective,
                                        std::size_t reads);

struct BucketCalls {
  NodeId start;
  std::vector<NodeId> waits;    // one; if the start reads a list, one per member
  std::vector<NodeId> ahead;    // calls before the first wait
  std::vector<NodeId> behind;   // calls from the first wait on
  std::vector<NodeId> results;  // one per member
};
// Appends the calls to the graph. The members have the same kind, group, reduction and dtype,
// except that all-gathers in `custom_ops` may differ in dtype.
BucketCalls write_bucket(Graph& graph, BucketNames& names, std::span<const BucketMember> members,
                         BucketForm form);

}  // namespace jointer
