#pragma once

#include <span>

#include "core/base/lists.h"
#include "core/graph/graph.h"

namespace jointer {

// The readers of each node, in program order. Valid as long as neither the graph's arguments nor
// its order changes.
class Users {
 public:
  explicit Users(const Graph& graph)
      : users_(Lists<NodeId>::of_each(graph.node_count(), [&](auto add) {
          for (const NodeId id : graph.order())
            for (const NodeId input : graph.inputs(id)) add(input.index(), id);
        })) {}

  [[nodiscard]] std::span<const NodeId> of(NodeId node) const { return users_.of(node.index()); }

 private:
  Lists<NodeId> users_;  // by node
};

}  // namespace jointer
