#pragma once

#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace jointer {

// The readers of each node, in program order. Valid as long as neither the graph's arguments nor
// its order change.
class Users {
 public:
  explicit Users(const Graph& graph);

  [[nodiscard]] std::span<const NodeId> of(NodeId node) const {
    return std::span(users_).subspan(first_[node.index()],
                                     first_[node.index() + 1] - first_[node.index()]);
  }

 private:
  std::vector<std::uint32_t> first_;  // by node, plus one final entry
  std::vector<NodeId> users_;
};

}  // namespace jointer
