// Tags a graph so that torch's partitioner arrives at a given save plan.
//
// A saved view is tagged together with all values that it is a view of. torch's partitioner always
// allows a view to be recomputed, whatever its tag, so tagging the view alone has no effect. The
// partitioner then saves one of these values, which have the same memory.
//
// Before torch's partitioner cuts the graph, it merges calls that compute the same result and keeps
// the tag of the first. Recomputed calls are therefore also found in the merged graph, so that a
// call without readers is tagged if calls with readers are merged into it.
//
// In a flat training step, tags apply exactly to the calls that have them (apply_step_tags.h), so
// the calls that the plan recomputes are tagged.

#include <algorithm>

#include "core/base/counted.h"
#include "core/edit/tag_list.h"
#include "core/partition/common_subexpressions.h"
#include "core/partition/dead_code.h"
#include "core/partition/joint_parts.h"
#include "core/partition/pair_order.h"
#include "core/policy/export.h"
#include "core/policy/plan_makers.h"
#include "core/policy/tag_edit.h"

namespace jointer {
namespace {

RegionChange set_region() {
  return {.kind = RegionChange::Kind::set, .id = kForwardRegion};
}

// The input that a call's result is a view of; none if the result has its own memory.
NodeId viewed_by(const Graph& graph, NodeId id) {
  if (graph.node(id).kind != NodeKind::call || graph.tensors(id).empty()) return {};
  const StorageId storage = graph.real_storage(graph.tensors(id).front().storage);
  for (const NodeId input : graph.inputs(id))
    for (const Tensor& t : graph.tensors(input))
      if (graph.real_storage(t.storage) == storage) return input;
  return {};
}

// Indexed by node id: true for calls that a flat training step recomputes. A plan from tags may
// recompute more than a searched plan can, but never a symbolic number such as a size.
Result<std::vector<bool>> runs_again_in_step(const Graph& step, const SavePlan& plan) {
  std::vector<bool> again = plan_makers(step, plan).runs_again;
  for (const NodeId id : step.order()) {
    const Node& n = step.node(id);
    if (n.kind == NodeKind::call && is_symbol(step, n)) again[id.index()] = false;
  }
  const PairOrders orders(step);
  JOINTER_TRY(const PairOrder order, orders.order(plan));
  for (const StepCall& call : order.step)
    if (call.kind == StepCall::Kind::copy) again[orders.node(call.place).index()] = true;
  return again;
}

// Indexed by node id: true for calls that the backward recomputes.
std::vector<bool> runs_again(const Graph& joint, const SavePlan& plan) {
  std::vector<bool> again = plan_makers(joint, plan).runs_again;
  Graph merged = joint;
  eliminate_dead_code(merged);
  merge_common_subexpressions(merged);
  // If the plan saves calls that merging erases, it is from default_partition, which does not
  // merge.
  const bool is_of_merged =
      std::ranges::all_of(plan.saved, [&](NodeId id) { return bool(merged.find(joint.name(id))); });
  if (!is_of_merged) return again;
  const std::vector<bool> of_merged = plan_makers(merged, plan).runs_again;
  for (std::size_t i = 0; i < again.size(); ++i) again[i] = again[i] || of_merged[i];
  return again;
}

}  // namespace

Result<Edit> tag_as_planned(const Graph& joint, const SavePlan& plan) {
  JOINTER_CHECK(check_taggable(joint));
  std::vector<Tag> tags(joint.node_count(),
                        {MemoryPolicy::none, {.kind = RegionChange::Kind::remove, .id = 0}});
  const bool is_step = joint.part(PartId(0)).kind == CaptureKind::train_step;
  std::vector<bool> again;
  if (is_step) {
    JOINTER_TRY(again, runs_again_in_step(joint, plan));
  } else {
    again = runs_again(joint, plan);
  }
  for (const NodeId id : joint.order())
    if (again[id.index()]) tags[id.index()] = {MemoryPolicy::must_recompute, set_region()};
  for (const auto& ids : {plan.saved, plan.saved_symbols})
    for (const NodeId saved : ids)
      for (NodeId id = saved; id; id = is_step ? NodeId{} : viewed_by(joint, id))
        tags[id.index()] = {MemoryPolicy::must_save, set_region()};
  for (const NodeId id : plan.offloaded)
    tags[id.index()] = {MemoryPolicy::must_cpu_offload, set_region()};
  TagList list;
  std::size_t saved = 0, recomputed = 0;
  for (const NodeId id : joint.order()) {
    const Node& n = joint.node(id);
    if (n.kind != NodeKind::call) continue;
    const Tag& tag = tags[id.index()];
    recomputed += tag.policy == MemoryPolicy::must_recompute ? 1 : 0;
    saved += tag.policy == MemoryPolicy::must_save || tag.policy == MemoryPolicy::must_cpu_offload;
    const Tag now{n.policy, region_change(n, tag.region.kind)};
    if (now != tag) list.add(edit_name(joint, id), tag);
  }
  return Edit{.title = fmt::format("Save plan: {} saved, {} recomputed", counted(saved, "result"),
                                   counted(recomputed, "call")),
              .by = {},
              .changes = list.take(),
              .notes = {}};
}

}  // namespace jointer
