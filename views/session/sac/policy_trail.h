#pragma once

// Tracks which edit set the policy of each node.

#include <map>
#include <vector>

#include "views/session/edit/edit_history.h"

namespace jointer::views {

struct PolicyTrail {
  std::vector<MemoryPolicy> policies;  // by node
  std::vector<std::int32_t> edits;     // by node: index of the last edit that set it, or -1
};

// Follows policies through edit histories. As long as the graph has the same nodes in the same
// order, the nodes of each edit are looked up only once.
class PolicyTrails {
 public:
  // Returns the policies after the first `count` edits of a history. `opened`: the graph as opened;
  // `now`: the graph after the whole history. Nodes that no longer exist are skipped.
  PolicyTrail follow(const Graph& opened, const Graph& now, const EditHistory& history,
                     std::size_t count);

 private:
  struct Set {
    NodeId node;
    MemoryPolicy policy;
  };
  const std::vector<Set>& sets_of(const Graph& graph, const DoneEditPtr& done);

  std::map<DoneEditPtr, std::vector<Set>> known_;
  std::vector<NodeId> order_;  // of the graph to which the nodes in known_ belong
};

}  // namespace jointer::views
