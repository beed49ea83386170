#pragma once

// A training step with experts, as graph_trainer traces it.

#include <string>
#include <string_view>
#include <vector>

#include "core/graph/graph.h"
#include "tests/support/graphs.h"

namespace jointer::test {

// A module that sends tokens and multiplies those it receives, its loss, and its weight's gradient.
inline constexpr std::string_view kExpertStep = R"(
  kind train_step
  group ep: 0 1
  w: f32[4,4] = parameter
  x: f32[u0,4] = input
  d: f32[u0,4] = _c10d_functional.all_to_all_single(x, [2, 2], [2, 2], 'ep')
  v: f32[u0,4] = _c10d_functional.wait_tensor(d)
  m: f32[u0,4] = aten.mm(v, w)
  s: f32[u0,4] = aten.sin(m)
  l: f32[] = aten.sum(s)
  gs: f32[u0,4] = aten.cos(m)  {backward}
  t: f32[4,u0] = aten.t(v)  {backward}
  gw: f32[4,4] = aten.mm(t, gs)  {backward}
  return [l, gw]
)";

inline void annotate(Graph& graph, std::string_view name, std::string_view custom) {
  graph.node(graph.find(name)).custom = graph.intern(custom);
}

// Puts the nodes of `inside` into layers.1.moe, and marks backward nodes; u0 is at most `size`.
inline Graph traced(std::string_view text = kExpertStep,
                    const std::vector<std::string>& inside = {"d", "v", "m", "t", "gw"},
                    std::int64_t size = 4) {
  Graph graph = parse(text);
  for (const NodeId id : graph.order()) {
    Node& node = graph.node(id);
    if (node.kind != NodeKind::call) continue;
    node.set(Node::has_autograd_backward, node.phase == Phase::backward);
    node.set(Node::autograd_backward, node.phase == Phase::backward);
    node.custom = graph.intern(R"({"module_fqn":"output"})");
  }
  for (const std::string& name : inside)
    annotate(graph, name, R"({"module_fqn":"layers.1.moe","EP":"dispatch"})");
  graph.part(PartId(0)).symbols.variables.push_back(
      {.name = "u0", .min = size / 2, .max = size, .hint = std::nullopt});
  return graph;
}

}  // namespace jointer::test
