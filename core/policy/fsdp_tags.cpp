// fsdp_reshard_after_fwd: decides whether gathered parameters live from the forward to the backward
// or are gathered again there.
//
// Every node of a gather (fsdp_gathers.h) is tagged MUST_RECOMPUTE (resharded) or MUST_SAVE. Its
// ac_graph_id is 100000, greater than that of any region, because torch saves a recomputed call if
// a recomputed call in a region with a greater number reads it, and a gather must not be saved for
// that reason.
//
// Cost: linear in the nodes and their readers.
// Source: SimpleFSDP's reshard_after_forward.py in torchtitan. Deviations: none. As in upstream,
// casts are not tagged before Inductor's decompositions, because they are then `_to_copy` calls.

#include "core/base/counted.h"
#include "core/graph/is_call_of.h"
#include "core/graph/users.h"
#include "core/ops/collective_targets.h"
#include "core/policy/fsdp_gathers.h"
#include "core/policy/sac_walk.h"
#include "core/policy/tag_edit.h"
#include "core/policy/tagging.h"

namespace jointer {
namespace {

// Returns true if a chain of single-input operators leads from a placeholder to the node.
bool comes_from_input(const Graph& graph, NodeId id) {
  for (auto inputs = graph.inputs(id); inputs.size() == 1; inputs = graph.inputs(id)) {
    id = inputs.front();
    if (graph.node(id).kind == NodeKind::placeholder) return true;
  }
  return false;
}

}  // namespace

std::vector<FsdpGather> fsdp_gathers(const Graph& graph) {
  const Users users(graph);
  std::vector<FsdpGather> found;
  for (const NodeId id : graph.order()) {
    if (!is_call_of(graph, id, kWaitTarget)) continue;
    const auto inputs = graph.inputs(id);
    if (inputs.empty() || !is_call_of(graph, inputs.front(), kAllGatherTarget) ||
        !comes_from_input(graph, inputs.front()))
      continue;
    FsdpGather gather{.convert = {}, .gather = inputs.front(), .nodes = {inputs.front(), id}};
    for (const NodeId user : users.of(id))
      if (is_call_of(graph, user, "aten.slice.Tensor")) gather.nodes.push_back(user);
    if (const NodeId shard = graph.inputs(gather.gather).front();
        is_call_of(graph, shard, "prims.convert_element_type.default"))
      gather.nodes.push_back(gather.convert = shard);
    found.push_back(std::move(gather));
  }
  return found;
}

Result<Edit> fsdp_reshard_after_fwd(const Graph& graph, bool reshard) {
  JOINTER_CHECK(check_taggable(graph));
  const MemoryPolicy policy = reshard ? MemoryPolicy::must_recompute : MemoryPolicy::must_save;
  TagPlan plan(graph);
  const auto gathers = fsdp_gathers(graph);
  for (const FsdpGather& gather : gathers)
    for (const NodeId id : gather.nodes) plan.set(id, policy, kFsdpRegion);
  return Edit{.title = fmt::format(
                  "FSDP: {} {}",
                  counted(gathers.size(), "gathered parameter is", "gathered parameters are"),
                  reshard ? "gathered again in the backward" : "saved"),
              .by = reshard ? "fsdp_reshard_after_fwd" : "fsdp_reshard_after_fwd{reshard=false}",
              .changes = plan.changes(),
              .notes = {}};
}

}  // namespace jointer
