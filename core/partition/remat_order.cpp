#include "core/partition/remat_order.h"

#include "core/graph/layers.h"
#include "core/graph/module_tree.h"

namespace jointer {

std::vector<std::vector<NodeId>> backward_runs(const Graph& graph) {
  const auto is_backward_call = [&](NodeId id) {
    const Node& n = graph.node(id);
    return n.kind == NodeKind::call && n.phase == Phase::backward;
  };
  const ModuleTree modules(graph);
  const auto order = graph.order();
  std::size_t start = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const std::string& path = modules.module(modules.of(order[i])).path;
    if (is_backward_call(order[i]) && layer_of_path(path) != Layers::kNone) break;
    if (path == "loss" || path == "lm_head") start = i + 1;
  }
  std::vector<std::vector<NodeId>> runs;
  bool is_within = false;
  for (std::size_t i = start; i < order.size(); ++i) {
    if (is_backward_call(order[i])) {
      if (!is_within) runs.emplace_back();
      is_within = true;
      runs.back().push_back(order[i]);
    } else if (graph.node(order[i]).kind != NodeKind::get_attr) {
      is_within = false;
    }
  }
  return runs;
}

}  // namespace jointer
