#include "core/graph/users.h"

namespace jointer {

Users::Users(const Graph& graph)
    : users_(Lists<NodeId>::of_each(graph.node_count(), [&](auto emit) {
        for (const NodeId id : graph.order())
          for (const NodeId input : graph.inputs(id)) emit(input.index(), id);
      })) {}

}  // namespace jointer
