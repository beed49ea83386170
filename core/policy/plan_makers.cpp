// Describes a save plan by the calls that allocate the memory of its values.
//
// Recomputed calls are found by starting from the calls of the backward, which depend on a tangent
// (in a graph without tangents, such as a flat training step: calls of the backward phase), and
// from the gradients that the graph returns. The calls among the inputs of these calls, and the
// gradients, are recomputed unless the backward computes them or they are saved, and so are the
// calls among the inputs of recomputed calls.

#include "core/policy/plan_makers.h"

#include <algorithm>

#include "core/graph/memory_policy.h"
#include "core/graph/users.h"

namespace jointer {
namespace {

// Indexed by node id: true for tangents and for calls that can run only in the backward.
std::vector<bool> backward_side(const Graph& graph) {
  std::vector<bool> side(graph.node_count(), false);
  const bool has_tangents = std::ranges::any_of(
      graph.order(), [&](NodeId id) { return graph.node(id).role == Role::tangent; });
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    const auto inputs = graph.inputs(id);
    side[id.index()] = has_tangents
                           ? n.role == Role::tangent ||
                                 (n.kind == NodeKind::call &&
                                  std::any_of(inputs.begin(), inputs.end(),
                                              [&](NodeId input) { return side[input.index()]; }))
                           : n.kind == NodeKind::call && n.phase == Phase::backward;
  }
  return side;
}

}  // namespace

std::vector<NodeId> memory_makers(const Graph& graph) {
  std::vector<NodeId> by_storage(graph.storage_count());
  std::vector<NodeId> makers(graph.node_count());
  for (const NodeId id : graph.order()) {
    NodeId maker = id;
    bool is_first = true;
    for (const Tensor& t : graph.tensors(id)) {
      NodeId& owner = by_storage[graph.real_storage(t.storage).index()];
      if (!owner) owner = id;
      if (is_first) maker = owner;
      is_first = false;
    }
    makers[id.index()] = maker;
  }
  return makers;
}

PlanMakers plan_makers(const Graph& joint, const SavePlan& plan) {
  const std::vector<NodeId> makers = memory_makers(joint);
  const std::vector<bool> side = backward_side(joint);
  std::vector<bool> is_saved(joint.node_count(), false), keeps(joint.node_count(), false);
  for (const auto& ids : {plan.saved, plan.saved_symbols})
    for (const NodeId id : ids) {
      is_saved[id.index()] = true;
      keeps[makers[id.index()].index()] = true;
    }
  PlanMakers result;
  result.runs_again.assign(joint.node_count(), false);
  std::vector<bool>& again = result.runs_again;
  const auto need = [&](NodeId id) {
    if (joint.node(id).kind == NodeKind::call && !side[id.index()] && !is_saved[id.index()])
      again[id.index()] = true;
  };
  for (std::size_t i = 0; i < joint.part_count(); ++i)
    for (const OutputEntry& output : joint.part(PartId(i)).outputs)
      if (output.node && output.role == Role::gradient) need(output.node);
  const auto order = joint.order();
  for (std::size_t i = order.size(); i-- > 0;) {
    const NodeId id = order[i];
    const Node& n = joint.node(id);
    if (n.kind == NodeKind::call && (side[id.index()] || again[id.index()]))
      for (const NodeId input : joint.inputs(id)) need(input);
  }
  for (const NodeId id : order) {
    if (joint.node(id).kind != NodeKind::call) continue;
    if (keeps[id.index()]) result.saved.push_back(id);
    if (again[id.index()] && makers[id.index()] == id) result.rerun.push_back(id);
  }
  return result;
}

TaggedMakers tagged_makers(const Graph& graph) {
  const std::vector<NodeId> makers = memory_makers(graph);
  const Users users(graph);
  TaggedMakers result{.saved = std::vector<bool>(graph.node_count(), false),
                      .untagged = std::vector<bool>(graph.node_count(), true)};
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.policy == MemoryPolicy::none) continue;
    const std::size_t maker = makers[id.index()].index();
    const auto readers = users.of(id);
    const bool at_boundary = std::any_of(readers.begin(), readers.end(), [&](NodeId user) {
      const Node& u = graph.node(user);
      return is_recomputed(u.policy) && u.has(Node::has_ac_graph_id) &&
             n.has(Node::has_ac_graph_id) && u.ac_graph_id > n.ac_graph_id;
    });
    result.untagged[maker] = false;
    if (!is_recomputed(n.policy) || at_boundary) result.saved[maker] = true;
  }
  return result;
}

}  // namespace jointer
