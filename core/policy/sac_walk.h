#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The calls that apply_sac tags, in program order, without getitem: as in upstream, all calls up to
// the one that computes the first output or, with `whole_forward`, all calls of the forward.
struct SacWalk {
  std::vector<NodeId> calls;
  NodeId last;               // the last node of upstream's walk; null if it visits all calls
  bool writes_back = false;  // the result of `last` is written back to an input
  std::size_t missed = 0;    // calls of the forward after `last`
};
SacWalk sac_walk(const Graph& graph, bool whole_forward);

// The ac_graph_id of the tags that fsdp_reshard_after_fwd sets.
inline constexpr std::int64_t kFsdpRegion = 100000;

}  // namespace jointer
