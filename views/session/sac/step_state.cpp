// States of a flat training step.
//
// The document's graph is the step with its tags. A state is that graph with its tags applied
// (core/policy/apply_step_tags.h), analyzed like any other graph: `jointer sac STEP -o` writes the
// same graph and `jointer memory` reports the same estimates. Rows refer to the document's own
// nodes (core/policy/step_values.h), since users choose policies for these; the resulting graph is
// discarded.
//
// Cost: applying tags is linear in the nodes; the analysis takes most of the time. If there are no
// tags to apply, the document's own analysis is used.

#include "views/session/sac/step_state.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/compiled/compiled_step.h"
#include "core/graph/layers.h"
#include "core/graph/tuple_call.h"
#include "core/partition/partitioned_values.h"
#include "core/partition/recompute_tags.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/gathered_weights.h"

namespace jointer::views {
namespace {

constexpr std::size_t kMaxSteps = 4, kMaxStepStates = 48;

// The outcome without `places`.
PlanOutcome outcome_of(const Graph& graph, const Analysis& analysis,
                       std::span<const SaveCandidate> decided) {
  PlanOutcome outcome{.figures = partitioned_figures(graph, decided)};
  outcome.figures.figures = {.peak_bytes = analysis.memory.peak_bytes(),
                             .step_ns = analysis.simulation.step_ns(),
                             .exposed_ns = analysis.simulation.exposed_ns()};
  outcome.figures.compute_ns = analysis.simulation.compute_ns();
  const auto profile = analysis.memory.profile();
  outcome.profile.assign(profile.begin(), profile.end());
  return outcome;
}

// Nodes added by applying tags have no position in the original step.
std::vector<double> places_of(const MemoryTimeline& memory, const Snapshot& tagged) {
  std::vector<NodeId> steps(memory.steps().begin(), memory.steps().end());
  for (NodeId& id : steps)
    if (id.index() >= tagged.graph.node_count()) id = {};
  return place_steps(tagged.analysis.memory, steps);
}

std::vector<SacTensor> tensors_of(const std::vector<StepValue>& values, const Snapshot& tagged) {
  std::vector<SacTensor> tensors;
  tensors.reserve(values.size());
  for (const StepValue& value : values) {
    const NodeId call = tuple_call(tagged.graph, value.node);
    tensors.push_back({.node = value.node,
                       .bytes = value.bytes,
                       // of this call only; its inputs have their own tags
                       .recompute_ns = tagged.analysis.costs_of_operators()[call.index()].ns,
                       .recompute_flops = tagged.analysis.flops[call.index()].total,
                       .chain = 1,
                       .action = value.action,
                       .decider = Decider::untagged,
                       .reason = value.reason});
  }
  return tensors;
}

std::vector<NodeId> saved_at_peak(const Graph& step, const MemoryTimeline& memory,
                                  const std::vector<SacTensor>& tensors) {
  const auto is_alive = [&](const Tensor& t) {
    const auto lifetime =
        t.storage ? memory.lifetime_of(step.real_storage(t.storage)) : std::nullopt;
    return lifetime && MemoryTimeline::is_alive(memory.lifetimes()[*lifetime], memory.peak_index());
  };
  std::vector<SaveCandidate> found;
  for (const SacTensor& tensor : tensors)
    if (tensor.action == PlanAction::save && tensor.bytes > 0 &&
        std::ranges::any_of(step.tensors(tensor.node), is_alive))
      found.push_back(
          {.node = tensor.node, .bytes = tensor.bytes, .recompute_ns = tensor.recompute_ns});
  std::ranges::stable_sort(found, std::ranges::greater(), bytes_per_us);
  std::vector<NodeId> nodes;
  for (const SaveCandidate& each : found) nodes.push_back(each.node);
  return nodes;
}

// Adds the unsaved values from which `nodes` are computed, so that recomputing frees memory.
// Removes nodes that cannot be recomputed, unless that applies to all of them.
void add_chains(const SacState& state, std::vector<NodeId>& nodes) {
  const PlanWhatIf& what_if = *state.step->what_if;
  SavePlan plan = state.plan;
  plan.offloaded.clear();  // here, offloaded values count as saved
  const auto change = what_if.change_all(plan, nodes, PlanAction::recompute);
  const auto before = what_if.evaluate(plan);
  if (!change || !before) return;
  const auto after = what_if.evaluate(change->plan);
  if (!after) return;
  std::erase_if(nodes, [&](NodeId node) {
    return std::ranges::find(change->refused, node, &PlanChange::Note::node) !=
           change->refused.end();
  });
  std::vector<bool> is_known(state.snapshot->graph.node_count(), false);
  for (const auto& each : before->recomputed) is_known[each.node.index()] = true;
  for (const SacTensor& tensor : state.tensors)
    if (tensor.is_settled()) is_known[tensor.node.index()] = true;
  for (const auto& each : after->recomputed)
    if (!is_known[each.node.index()]) nodes.push_back(each.node);
}

Result<SacStepPtr> make_step(const SnapshotPtr& snapshot) {
  const Analysis& analysis = snapshot->analysis;
  auto step = std::make_shared<SacStep>();
  step->snapshot = snapshot;
  JOINTER_TRY(const std::vector<SaveCandidate> decided,
              partitioned_values(snapshot->graph, analysis.costs_of_operators(), analysis.flops));
  static_cast<PlanOutcome&>(*step) = outcome_of(snapshot->graph, analysis, decided);
  step->places = places_of(analysis.memory, *snapshot);
  step->what_if = std::make_unique<PlanWhatIf>(
      snapshot->graph, analysis.costs_of_operators(), analysis.flops, analysis.options.memory,
      analysis.options.simulation, PlanWhatIfOptions{.transfers = analysis.transfers});
  return SacStepPtr(std::move(step));
}

// A step with its tags applied or, with a refusal, without them.
struct AppliedStep {
  Graph graph;
  bool has_changed = false;
  std::string refusal;
};

AppliedStep applied_step(const Graph& tagged) {
  AppliedStep applied{.graph = tagged, .refusal = {}};
  if (const auto edits = apply_step_tags(applied.graph); !edits) {
    applied.refusal = edits.error().message;
    applied.graph = tagged;  // some tags may already have been applied to it
  } else {
    applied.has_changed =
        std::ranges::any_of(*edits, [](const Edit& edit) { return !edit.changes.empty(); });
  }
  return applied;
}

Result<std::shared_ptr<SacState>> apply_tags(const SacStepPtr& step,
                                             const std::vector<MemoryPolicy>& policies) {
  const Snapshot& without_plan = *step->snapshot;
  auto state = std::make_shared<SacState>();
  state->kind = SacKind::step;
  state->step = step;
  Graph tagged = without_plan.graph;
  for (std::size_t i = 0; i < policies.size(); ++i) tagged.node(NodeId(i)).policy = policies[i];
  AppliedStep applied = applied_step(tagged);
  const Graph& graph = applied.graph;
  state->applied_tags.refusal = std::move(applied.refusal);
  state->applied_tags.any = applied.has_changed;
  std::optional<Analysis> made;
  if (applied.has_changed) {
    JOINTER_TRY(made, analyze_step(graph, without_plan.analysis.options));
  }
  const Analysis& analysis = made ? *made : without_plan.analysis;
  JOINTER_TRY(const std::vector<SaveCandidate> decided,
              partitioned_values(graph, analysis.costs_of_operators(), analysis.flops));
  static_cast<PlanOutcome&>(*state) = outcome_of(graph, analysis, decided);
  state->rows = plan_rows(graph, decided, tagged);
  state->places = places_of(analysis.memory, without_plan);
  JOINTER_TRY(state->plan, plan_of_step(tagged, graph));
  state->tensors = tensors_of(step_values(tagged, graph, decided), without_plan);
  state->tensor_by_node.assign(tagged.node_count(), -1);
  for (std::size_t i = 0; i < state->tensors.size(); ++i)
    state->tensor_by_node[state->tensors[i].node.index()] = static_cast<std::int32_t>(i);
  state->applied_tags.reserved_bytes = analysis.reserved.peak_bytes;
  state->applied_tags.saved_at_peak = saved_at_peak(graph, analysis.memory, state->tensors);
  return state;
}

}  // namespace

bool has_same_nodes(const Graph& a, const Graph& b) {
  return a.node_count() == b.node_count() && std::ranges::equal(a.order(), b.order());
}

bool has_step_tags(const Graph& graph) {
  const auto order = graph.order();
  return std::ranges::any_of(order, [&](NodeId id) {
    return must_recompute(graph.node(id)) ||
           graph.node(id).policy == MemoryPolicy::must_cpu_offload;
  });
}

Result<SavePlan> plan_of_tags(const Graph& tagged) {
  if (!has_step_tags(tagged)) return plan_of_step(tagged, tagged);
  return plan_of_step(tagged, applied_step(tagged).graph);
}

Result<TagsOutcome> outcome_of_tags(const Graph& tagged) {
  const Graph step = has_step_tags(tagged) ? applied_step(tagged).graph : tagged;
  TagsOutcome outcome;
  JOINTER_TRY(outcome.plan, plan_of_step(tagged, step));
  const std::vector<NodeCost> costs(step.node_count());
  const std::vector<Flops> flops(step.node_count());
  JOINTER_TRY(const std::vector<SaveCandidate> decided, partitioned_values(step, costs, flops));
  for (const StepValue& each : step_values(tagged, step, decided))
    if (each.action == PlanAction::save) outcome.saved.push_back({each.node, each.bytes});
  return outcome;
}

Graph step_with_own_tags(const SacState& state) {
  Graph step = state.step->snapshot->graph;
  for (std::size_t i = 0; i < state.own_policies.size(); ++i)
    step.node(NodeId(i)).policy = state.own_policies[i];
  return step;
}

std::vector<NodeId> nodes_to_tag(const SacState& state, std::span<const NodeId> nodes,
                                 std::optional<PlanAction> action) {
  const Graph& graph = state.snapshot->graph;
  std::vector<NodeId> tagged;
  for (const NodeId node : nodes) {
    if (const SacTensor* tensor = state.tensor_of(node); tensor != nullptr && tensor->is_settled())
      continue;
    tagged.push_back(node);
    const Node& n = graph.node(node);
    if (action != PlanAction::recompute || n.kind != NodeKind::call || !graph.op(n).is_getitem)
      continue;
    const NodeId whole = graph.inputs(n).front();
    if (graph.node(whole).kind == NodeKind::call) tagged.push_back(whole);
  }
  if (action == PlanAction::recompute && state.step) add_chains(state, tagged);
  std::ranges::sort(tagged);
  tagged.erase(std::unique(tagged.begin(), tagged.end()), tagged.end());
  return tagged;
}

std::size_t layers_with_recomputed_input(const SacState& state) {
  if (!state.is_step()) return 0;
  const Graph& graph = state.snapshot->graph;
  const Layers layers(graph, state.snapshot->analysis.modules);
  const std::vector<bool> is_gathered = gathered_weights(graph);
  std::map<std::int64_t, std::int64_t> recomputed;  // by layer: recomputed minus other values
  for (const SacTensor& tensor : state.tensors)
    if (!is_gathered[tensor.node.index()])
      recomputed[layers.of(tensor.node)] += tensor.action == PlanAction::recompute ? 1 : -1;
  const auto is_recomputed = [&](std::int64_t layer) {
    const auto found = recomputed.find(layer);
    return layer != Layers::kNone && found != recomputed.end() && found->second > 0;
  };
  std::set<std::int64_t> found;
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    const std::int64_t layer = layers.of(id);
    if (n.kind != NodeKind::call || n.phase != Phase::forward || !is_recomputed(layer)) continue;
    for (const NodeId input : graph.inputs(id)) {
      const SacTensor* tensor = state.tensor_of(input);
      if (tensor != nullptr && tensor->action == PlanAction::recompute &&
          !is_gathered[input.index()] && layers.of(input) != layer &&
          is_recomputed(layers.of(input)))
        found.insert(layer);
    }
  }
  return found.size();
}

Result<SacStepPtr> StepStates::step_of(const SnapshotPtr& now, const SnapshotPtr& baseline,
                                       const EditHistory& calls) {
  const auto known = std::ranges::find_if(steps_, [&](const KnownStep& k) {
    return k.baseline == baseline && k.calls == calls &&
           has_same_nodes(k.step->snapshot->graph, now->graph);
  });
  if (known != steps_.end()) {
    std::rotate(steps_.begin(), known, known + 1);
    return steps_.front().step;
  }
  // The estimates or the file have changed, so nothing cached is valid.
  if (!steps_.empty() && steps_.front().baseline != baseline) {
    steps_.clear();
    states_.clear();
  }
  JOINTER_TRY(SacStepPtr step, make_step(now));
  steps_.push_front({baseline, calls, step});
  if (steps_.size() > kMaxSteps) {
    std::erase_if(states_, [&](const KnownState& s) { return s.step == steps_.back().step; });
    steps_.pop_back();
  }
  return step;
}

Result<SacStatePtr> StepStates::state(const SnapshotPtr& now, const SnapshotPtr& baseline,
                                      const EditHistory& calls,
                                      const std::vector<MemoryPolicy>& policies) {
  JOINTER_TRY(const SacStepPtr step, step_of(now, baseline, calls));
  const auto known = std::ranges::find_if(
      states_, [&](const KnownState& s) { return s.step == step && s.policies == policies; });
  if (known != states_.end()) {
    std::rotate(states_.begin(), known, known + 1);
    return states_.front().state;
  }
  JOINTER_TRY(SacStatePtr state, apply_tags(step, policies));
  states_.push_front({step, policies, state});
  if (states_.size() > kMaxStepStates) states_.pop_back();
  return state;
}

}  // namespace jointer::views
