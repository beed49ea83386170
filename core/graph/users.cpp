#include "core/graph/users.h"

#include <utility>
#include <vector>

namespace jointer {

Users::Users(const Graph& graph) {
  std::vector<std::pair<std::uint32_t, NodeId>> reads;
  for (const NodeId id : graph.order())
    for (const NodeId input : graph.inputs(id)) reads.emplace_back(input.value(), id);
  users_ = Lists<NodeId>::of_pairs(reads, graph.node_count());
}

}  // namespace jointer
