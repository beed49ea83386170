#include "core/graph/memory_sources.h"

#include <algorithm>

namespace jointer {
namespace {

// The maximum number of nodes to search, so that a long chain of views without values stays cheap.
constexpr std::size_t kMaxSearched = 1000;

}  // namespace

bool lacks_value(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  return node.value.kind == Value::Kind::none && node.kind != NodeKind::output;
}

bool append_memory_sources(const Graph& graph, NodeId id, std::vector<NodeId>& sources) {
  std::vector<NodeId> searched{id};
  bool is_complete = true;
  for (std::size_t i = 0; i < searched.size(); ++i) {
    const NodeId at = searched[i];
    if (!lacks_value(graph, at)) {
      sources.push_back(at);
      continue;
    }
    const Node& node = graph.node(at);
    if (node.kind != NodeKind::call || !graph.op(node).may_share_memory()) {
      is_complete = false;
      continue;
    }
    for (const NodeId input : graph.inputs(at)) {
      if (std::ranges::find(searched, input) != searched.end()) continue;
      if (searched.size() == kMaxSearched) return false;
      searched.push_back(input);
    }
  }
  return is_complete;
}

}  // namespace jointer
