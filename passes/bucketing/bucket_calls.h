#pragma once

// Writes the calls that torch creates for a bucket of collectives: calls that pack the members, run
// one collective, and unpack its result. bucket_calls.cpp describes them.

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

// torch's bucket modes. In all modes, plain calls pack and unpack an all-reduce.
enum class BucketForm : std::uint8_t {
  standard,    // `default`: plain calls pack and unpack the members
  custom_ops,  // torch's custom operators pack the members
  coalesced,   // a reduce-scatter reads the members as a list; an all-gather is as in `standard`
};

// Gives calls the names that they have in torch, which traces each bucket separately and then
// copies the traced calls into the graph.
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
  NodeId source;                 // the tensor to pack: the input of the start or of a removed cast
  NodeId cast;                   // that cast, if any
  DType dtype = DType::float32;  // of the start's result
  std::int64_t elements = 0;     // of `source`
  std::vector<std::int64_t> in, result;  // shapes of `source` and of the result
};

// `reads` is the number of nodes that read the collective's input. Error (usage): the collective
// cannot join any bucket; the message says why, as a clause without a period.
Result<BucketMember> read_bucket_member(const Graph& graph, const WaitedCollective& collective,
                                        std::size_t reads);

struct BucketCalls {
  NodeId start;
  std::vector<NodeId> waits;    // a single wait, or one per member if the start reads a list
  std::vector<NodeId> ahead;    // calls before the first wait
  std::vector<NodeId> behind;   // calls from the first wait on
  std::vector<NodeId> results;  // one per member
};
// Appends the calls to the graph. The members must have the same kind, group, reduction and dtype,
// except that all-gathers in `custom_ops` may differ in dtype.
BucketCalls write_bucket(Graph& graph, BucketNames& names, std::span<const BucketMember> members,
                         BucketForm form);

}  // namespace jointer
