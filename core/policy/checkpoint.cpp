// Checkpoints groups of calls: recomputes what they compute and saves what they read.
//
// Steps
//   1. Recompute every value that a call in a group returns, with two exceptions. Values computed
//      only from parameters keep their decisions, since FSDP's rule decides about gathered
//      parameters. So do results that the backward of other modules reads: like the next layer's
//      input, these are saved by their reader.
//   2. Save the inputs of each group: the values that its calls read and that forward calls outside
//      the group compute, again except values computed only from parameters. An input may be
//      computed in another group, as with consecutive layers.
//
// The order of these steps matters: PlanWhatIf::change_all drops values that the backward does not
// need, and the backward needs an input only if values computed from it are recomputed.
//
// Cost: two changes of a plan, plus a time linear in the graph.
// Source: torch.utils.checkpoint, and torchtitan's activation checkpointing of each layer.

#include "core/policy/checkpoint.h"

#include <algorithm>
#include <map>

#include "core/graph/from_parameters.h"
#include "core/graph/layers.h"
#include "core/graph/module_tree.h"

namespace jointer {
namespace {

// Indexed by node id: true for calls in a group whose results a backward call of a module outside
// the group reads. Backward calls without a module count as part of the group.
std::vector<bool> read_by_other_modules(const Graph& graph,
                                        std::span<const std::vector<NodeId>> groups) {
  const ModuleTree modules(graph);
  std::vector<std::size_t> group_of(graph.node_count(), 0);  // from 1; 0: no group
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const NodeId id : groups[i]) group_of[id.index()] = i + 1;
  std::vector<bool> is_read(graph.node_count(), false);
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call || n.phase != Phase::backward) continue;
    if (modules.module(modules.of(id)).path.empty()) continue;
    for (const NodeId input : graph.inputs(id)) {
      const std::size_t group = group_of[input.index()];
      if (group != 0 && group != group_of[id.index()]) is_read[input.index()] = true;
    }
  }
  return is_read;
}

}  // namespace

Result<PlanChange> checkpoint(const Graph& graph, const PlanWhatIf& what_if, const SavePlan& plan,
                              std::span<const std::vector<NodeId>> groups) {
  const std::vector<bool> of_parameters = derived_from_parameters(graph);
  std::vector<std::size_t> group_of(graph.node_count(), 0);  // from 1; 0: no group
  std::vector<bool> is_input(graph.node_count(), false);
  const std::vector<bool> is_read_outside = read_by_other_modules(graph, groups);
  const auto is_activation = [&](NodeId id) {
    const Node& n = graph.node(id);
    return graph.is_live(id) && n.kind == NodeKind::call && n.phase == Phase::forward &&
           !of_parameters[id.index()];
  };
  const auto is_tensor = [&](NodeId id) {
    return graph.node(id).value.kind == Value::Kind::tensor;
  };
  std::vector<NodeId> inside, inputs;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const NodeId id : groups[i]) {
      if (!is_activation(id)) continue;
      group_of[id.index()] = i + 1;
      if (is_tensor(id) && !is_read_outside[id.index()]) inside.push_back(id);
    }
  if (inside.empty())
    return fail(Error::Kind::usage,
                "the checkpointed calls compute no activations in the forward, or only those that "
                "the backward of other modules reads");
  for (const NodeId id : graph.order()) {
    if (group_of[id.index()] == 0) continue;
    for (const NodeId input : graph.inputs(id)) {
      if (group_of[input.index()] == group_of[id.index()] || is_input[input.index()] ||
          !is_activation(input) || !is_tensor(input))
        continue;
      is_input[input.index()] = true;
      inputs.push_back(input);
    }
  }
  JOINTER_TRY(PlanChange change, what_if.change_all(plan, inside, PlanAction::recompute));
  // An error means that the backward needs none of the inputs.
  if (auto saved = what_if.change_all(change.plan, inputs, PlanAction::save))
    change.plan = std::move(saved->plan);
  return change;
}

Result<std::vector<std::vector<NodeId>>> calls_of_modules(const Graph& graph,
                                                          std::span<const std::string> paths) {
  const ModuleTree modules(graph);
  std::vector<std::vector<NodeId>> groups;
  for (const std::string& path : paths) {
    std::vector<NodeId>& calls = groups.emplace_back();
    for (const NodeId id : graph.order()) {
      const std::string& of = modules.module(modules.of(id)).path;
      if (graph.node(id).kind == NodeKind::call && (of == path || of.starts_with(path + '.')))
        calls.push_back(id);
    }
    if (calls.empty())
      return fail(
          Error::Kind::usage,
          "no call in the graph is in module {}; give the module's full path, such as layers.3",
          path);
  }
  return groups;
}

std::vector<std::vector<NodeId>> calls_of_layers(const Graph& graph,
                                                 std::span<const NodeId> nodes) {
  const ModuleTree modules(graph);
  const Layers layers(graph, modules);
  std::map<std::int64_t, std::vector<NodeId>> calls;
  for (const NodeId id : nodes)
    if (layers.of(id) != Layers::kNone) calls[layers.of(id)];
  for (const NodeId id : graph.order())
    if (const auto layer = calls.find(layers.of(id));
        layer != calls.end() && graph.node(id).kind == NodeKind::call)
      layer->second.push_back(id);
  std::vector<std::vector<NodeId>> groups;
  for (auto& [layer, of_layer] : calls) groups.push_back(std::move(of_layer));
  return groups;
}

}  // namespace jointer
