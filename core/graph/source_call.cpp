#include "core/graph/source_call.h"

namespace jointer {

NodeId source_call(const Graph& graph, NodeId id) {
  for (;;) {
    const Node& node = graph.node(id);
    if (node.kind != NodeKind::call || !graph.op(node).is_getitem || node.input_count == 0)
      return id;
    id = graph.inputs(node).front();
  }
}

}  // namespace jointer
