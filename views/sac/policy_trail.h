#pragma once

// Who decided about each node: the policies of a graph, followed edit by edit. No Qt.

#include <map>
#include <vector>

#include "views/edit/edit_line.h"

namespace jointer::views {

struct PolicyTrail {
  std::vector<MemoryPolicy> policies;  // by node
  std::vector<std::int32_t> edits;     // by node: which of the line set it last; -1: it came so
};

// Follows lines of edits. What an edit selects is looked up once.
class PolicyTrails {
 public:
  // Of the first `count` edits of a line. `opened`: the graph as it was opened; `now`: that of the
  // whole line. What an edit named and is gone by now is left out.
  PolicyTrail follow(const Graph& opened, const Graph& now, const EditLine& line,
                     std::size_t count);
  void clear() { known_.clear(); }

 private:
  struct Set {
    NodeId node;
    MemoryPolicy policy;
  };
  const std::vector<Set>& sets_of(const Graph& graph, const DoneEditPtr& done);

  std::map<DoneEditPtr, std::vector<Set>> known_;
};

}  // namespace jointer::views
