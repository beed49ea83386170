#pragma once

#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The calls that apply_sac tags, in program order: those of the forward except getitem. Upstream's
// walk ends at the call that computes the first output; the alternative covers the whole forward.
struct SacWalk {
  std::vector<NodeId> calls;
  NodeId last;  // end of upstream's walk; none if the output reads nothing and all calls count
  bool writes_back = false;  // the result of `last` is written back to an input
  std::size_t missed = 0;    // calls of the forward after the end
};
SacWalk sac_walk(const Graph& graph, bool whole_forward);

// The ac_graph_id of the tags that fsdp_reshard_after_fwd sets.
inline constexpr std::int64_t kFsdpRegion = 100000;

}  // namespace jointer
