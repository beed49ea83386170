#pragma once

// The calls that stand for a bucket of collectives in torch's `custom_ops` mode: members packed by
// one operator, one collective, and its result taken apart. How is at the top of bucket_calls.cpp.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.h"
#include "core/graph/graph.h"
#include "passes/bucketing/bucket_levels.h"

namespace jointer {

// Names as torch.fx gives them: `view`, then `view_1`, above every number that the half has.
class FxNames {
 public:
  FxNames(const Graph& graph, PartId part);
  std::string fresh(std::string_view base);

 private:
  std::unordered_map<std::string, std::int64_t> last_;  // by base: the highest number in use
};

// A member's tensors, as a bucket needs them.
struct BucketMember {
  NodeId start, wait;
  NodeId source;              // what is packed: the start's input, or what a cast that goes reads
  NodeId cast;                // that cast, if any
  std::int64_t elements = 0;  // of the input
  std::vector<std::int64_t> in, result;  // shapes of the input and of the result
};

// Error (usage): why the collective fits in no bucket, as the end of a sentence. `reads`: how many
// read its input.
Result<BucketMember> read_bucket_member(const Graph& graph, const WaitedCollective& collective,
                                        std::size_t reads);

struct BucketCalls {
  std::vector<NodeId> ahead;    // up to the start
  std::vector<NodeId> behind;   // from the wait on
  std::vector<NodeId> results;  // one a member
};
// Adds them to the end of the graph. Members are of one kind, group, reduction and dtype.
BucketCalls write_bucket(Graph& graph, FxNames& names, std::span<const BucketMember> members);

}  // namespace jointer
