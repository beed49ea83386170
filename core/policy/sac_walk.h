#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The calls that apply_sac tags, in program order: those of the forward but getitem. Upstream's
// walk ends with the call that makes the first value of the output; the other one is over the whole
// forward.
struct SacWalk {
  std::vector<NodeId> calls;
  NodeId last;  // upstream's; none if the output reads nothing: then every call is walked over
  bool writes_back = false;  // that value is written back to an input
  std::size_t missed = 0;    // calls of the forward behind the end
};
SacWalk sac_walk(const Graph& graph, bool whole_forward);

// ac_graph_id of the tags of fsdp_reshard_after_fwd.
inline constexpr std::int64_t kFsdpRegion = 100000;

}  // namespace jointer
