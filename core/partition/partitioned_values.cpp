#include "core/partition/partitioned_values.h"

#include <utility>

#include "core/schedule/lifetimes.h"

namespace jointer {

NodeId ended_transfer(const Graph& graph, const Node& wait) {
  const NodeId copy = graph.is_wait(wait) ? graph.collective_of_wait(wait) : NodeId{};
  return copy && graph.is_transfer(graph.node(copy)) ? copy : NodeId{};
}

bool moves_memory(const Graph& graph, const Node& n) {
  return graph.is_transfer(n) || bool(ended_transfer(graph, n));
}

namespace {

// Indexed by node id: how the backward receives a value of the forward; PlanAction::recompute if it
// does not receive the value.
std::vector<PlanAction> action_by_node(const Graph& graph) {
  std::vector<PlanAction> decided(graph.node_count(), PlanAction::recompute);
  const auto keep = [&](NodeId id, PlanAction as) {
    const Node& n = graph.node(id);
    if (n.kind == NodeKind::call && n.phase == Phase::forward && !n.has(Node::recomputed) &&
        n.value.kind == Value::Kind::tensor)
      decided[id.index()] = as;
  };
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    // If the saved value is the result of a copy to the host, use the value that was copied.
    const NodeId copy = n.partner ? ended_transfer(graph, graph.node(n.partner)) : NodeId{};
    if (copy)
      keep(graph.inputs(copy).front(), PlanAction::offload);
    else if (n.partner)
      keep(n.partner, PlanAction::save);
    // The input of a copy back is on the host.
    if (graph.is_pair() || n.kind != NodeKind::call || graph.is_transfer(n)) continue;
    for (const NodeId input : graph.inputs(id)) {
      if (n.phase == Phase::backward && !moves_memory(graph, graph.node(input)))
        keep(input, PlanAction::save);
    }
  }
  // In a flat training step, only the wait reads the offloaded copy; the backward reads the
  // reloaded copy.
  if (!graph.is_pair())
    for (const NodeId id : graph.order())
      if (const Node& n = graph.node(id); graph.is_transfer(n) && n.phase == Phase::forward)
        keep(graph.inputs(id).front(), PlanAction::offload);
  return decided;
}

// Indexed by storage id: 1 if the step keeps it live anyway, as an input, a constant or a result of
// its forward.
std::vector<std::uint8_t> held_storages(const Graph& graph) {
  std::vector<std::uint8_t> is_held(graph.storage_count(), 0);
  const auto hold = [&](NodeId id) {
    for (const Tensor& t : graph.tensors(id))
      if (t.storage) is_held[graph.real_storage(t.storage).index()] = 1;
  };
  for (const NodeId id : graph.order())
    if (const Node& n = graph.node(id);
        (n.kind == NodeKind::placeholder && !n.partner) || n.kind == NodeKind::get_attr)
      hold(id);
  for (const OutputEntry& output : graph.part(PartId(0)).outputs)
    if (output.node && output.role != Role::saved && output.role != Role::gradient &&
        graph.node(output.node).phase == Phase::forward)
      hold(output.node);
  return is_held;
}

}  // namespace

Result<std::vector<SaveCandidate>> partitioned_values(const Graph& graph,
                                                      std::span<const NodeCost> costs,
                                                      std::span<const Flops> flops) {
  const CaptureKind kind = graph.part(PartId(0)).kind;
  if (!graph.is_pair() && kind != CaptureKind::train_step)
    return fail(Error::Kind::usage,
                "{} has no save or recompute decisions; {}open a pair or a flat training step",
                kind == CaptureKind::joint      ? "a joint graph"
                : kind == CaptureKind::subgraph ? "a subgraph"
                                                : "a single half",
                kind == CaptureKind::joint ? "partition it, or " : "");
  std::vector<std::uint8_t> is_counted = held_storages(graph);
  const std::vector<PlanAction> decided = action_by_node(graph);
  std::vector<SaveCandidate> rows;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    const bool again =
        n.kind == NodeKind::call && n.has(Node::recomputed) && !moves_memory(graph, n);
    if (!again && decided[id.index()] == PlanAction::recompute) continue;
    SaveCandidate row{.node = id, .action = decided[id.index()]};
    for (const Tensor& t : graph.tensors(n)) {
      if (!t.storage || graph.device_type(t) != graph.main_device()) continue;
      const StorageId storage = graph.real_storage(t.storage);
      if (!std::exchange(is_counted[storage.index()], std::uint8_t{1}))
        row.bytes += allocated_bytes(graph.storage(storage).bytes.value, graph.main_device());
    }
    if (again) {
      row.recompute_ns = costs[id.index()].ns;
      row.recompute_flops = flops[id.index()].total;
      row.chain = 1;
    }
    rows.push_back(row);
  }
  return rows;
}

// In a pair, the forward has the calls that run twice under the same names.
bool runs_again(const Graph& graph, const Node& node) {
  if (!node.has(Node::recomputed)) return false;
  return !graph.is_pair() || graph.find(PartId(0), graph.text(node.name));
}

PlanFigures partitioned_figures(const Graph& graph, std::span<const SaveCandidate> decided) {
  PlanFigures figures;
  for (const SaveCandidate& each : decided) {
    if (each.action != PlanAction::recompute) {
      (each.action == PlanAction::save ? figures.saved_bytes : figures.offloaded_bytes) +=
          each.bytes;
    } else if (runs_again(graph, graph.node(each.node))) {
      ++figures.recomputed;
      figures.recompute_ns += each.recompute_ns;
      figures.recompute_flops += each.recompute_flops;
    }
  }
  return figures;
}

}  // namespace jointer
