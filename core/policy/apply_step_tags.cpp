#include "core/policy/apply_step_tags.h"

#include <algorithm>

#include "core/edit/append.h"
#include "core/partition/partitioned_values.h"
#include "core/policy/cpu_offload.h"
#include "core/policy/export.h"
#include "core/policy/remat.h"

namespace jointer {

Result<std::vector<Edit>> apply_step_tags(Graph& step) {
  std::vector<Edit> edits;
  const auto order = step.order();
  const bool any_offloaded = std::ranges::any_of(
      order, [&](NodeId id) { return step.node(id).policy == MemoryPolicy::must_cpu_offload; });
  if (any_offloaded) {
    JOINTER_TRY(Edit edit, apply_cpu_offload(step));
    JOINTER_CHECK(apply(step, edit));
    edits.push_back(std::move(edit));
  }
  JOINTER_TRY(Edit edit, selective_activation_remat(step));
  JOINTER_CHECK(apply(step, edit));
  edits.push_back(std::move(edit));
  return edits;
}

Result<Edit> step_tags_edit(const Graph& tagged) {
  Graph step = tagged;
  JOINTER_TRY(std::vector<Edit> edits, apply_step_tags(step));
  std::erase_if(edits, [](const Edit& edit) { return edit.changes.empty(); });
  if (edits.empty()) return Edit{.title = "No tags left to apply"};
  Edit whole = std::move(edits.front());
  for (std::size_t i = 1; i < edits.size(); ++i) {
    whole.title += "; " + edits[i].title;
    whole.by += ',' + edits[i].by;
    append(whole, edits[i]);
  }
  return whole;
}

Result<Graph> step_of_plan(Graph step, const SavePlan& plan) {
  JOINTER_TRY(const Edit tags, tag_as_planned(step, plan));
  JOINTER_CHECK(apply(step, tags));
  JOINTER_CHECK(apply_step_tags(step));
  return step;
}

Result<SavePlan> plan_of_step(const Graph& before, const Graph& step) {
  const std::vector<NodeCost> costs(step.node_count());
  const std::vector<Flops> flops(step.node_count());
  JOINTER_TRY(const std::vector<SaveCandidate> decided, partitioned_values(step, costs, flops));
  SavePlan plan;
  for (const SaveCandidate& each : decided) {
    const NodeId id = before.find(step.name(each.node));
    if (!id || each.action == PlanAction::recompute) continue;
    plan.saved.push_back(id);
    if (each.action == PlanAction::offload) plan.offloaded.push_back(id);
  }
  std::sort(plan.offloaded.begin(), plan.offloaded.end());
  return plan;
}

}  // namespace jointer
