#include "views/session/sac/sac_state.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/graph/tuple_call.h"
#include "core/partition/partitioned_values.h"
#include "core/partition/plan_margin_text.h"

namespace jointer::views {
namespace {

const PlanReason* reason_of(const SacState& state, NodeId node) {
  if (!state.base || node.index() >= state.base->partition.reasons.size()) return nullptr;
  return &state.base->partition.reasons[node.index()];
}

// Returns true if the tensor's policy is unchanged since the plan was solved.
bool stands_as_solved(const SacState& state, const SacTensor& tensor) {
  return state.base && tensor.node.index() < state.base->actions.size() &&
         state.base->actions[tensor.node.index()] == static_cast<std::int8_t>(tensor.action);
}

// A reason that already begins with "recomputed" only needs a capital letter.
std::string in_a_sentence(PlanAction action, const std::string& reason) {
  if (!reason.starts_with("recomputed"))
    return fmt::format("{}: {}", capitalized(participle(action)), reason);
  return capitalized(reason);
}

// The decider after the word "by": "hand", "a list".
std::string decider_words(Decider decider) {
  return decider == Decider::user ? "hand" : fmt::format("a {}", to_string(decider));
}

// The decider and the edit: "Saved by hand: Save mm_3".
std::string by_whom(const SacState& state, const SacTensor& tensor) {
  if (tensor.edit < 0) return fmt::format("{} by hand", capitalized(participle(tensor.action)));
  return fmt::format("{} by {}: {}", capitalized(participle(tensor.action)),
                     decider_words(tensor.decider),
                     state.edits[static_cast<std::size_t>(tensor.edit)]);
}

// Returns true if the user, a list, a preset or a search decided.
bool is_by_edit(const SacTensor& tensor) {
  return tensor.decider == Decider::user || tensor.decider == Decider::list ||
         tensor.decider == Decider::preset || tensor.decider == Decider::search;
}

std::string_view in_short(StepReason reason) {
  switch (reason) {
    case StepReason::untagged:
      return "not tagged";
    case StepReason::read_by_copies:
      return "read by recomputation";
    case StepReason::tagged:
      return "tagged";
    case StepReason::read_before:
      return "read before recomputation";
    case StepReason::stays:
    case StepReason::stays_for_copies:
      return "cannot leave the device";
    case StepReason::applied:
      break;
  }
  return "already applied";
}

}  // namespace

SacKind sac_kind(const Graph& graph) {
  if (graph.part_count() != 1) return SacKind::partitioned;
  switch (graph.part(PartId(0)).kind) {
    case CaptureKind::joint:
      return SacKind::joint;
    case CaptureKind::train_step:
      return SacKind::step;
    default:
      return SacKind::partitioned;
  }
}

bool is_plan_for(const SacStatePtr& state, const Graph& graph) {
  return state && state->can_change() && state->snapshot->graph.node_count() == graph.node_count();
}

SavedValues saved_values_of(const SacState& state) {
  SavedValues values;
  for (const SacTensor& tensor : state.tensors)
    if (tensor.action == PlanAction::save) values.push_back({tensor.node, tensor.bytes});
  return values;
}

bool has_reserved(const SacState& state) {
  return state.snapshot->analysis.memory.device() == DeviceType::cuda;
}

MemoryPolicy policy_of(std::optional<PlanAction> action) {
  if (!action) return MemoryPolicy::none;
  switch (*action) {
    case PlanAction::save:
      return MemoryPolicy::must_save;
    case PlanAction::recompute:
      return MemoryPolicy::must_recompute;
    case PlanAction::offload:
      break;
  }
  return MemoryPolicy::must_cpu_offload;
}

std::string why(const SacState& state, const SacTensor& tensor) {
  const Node& node = state.snapshot->graph.node(tensor.node);
  if (!state.can_change()) {
    if (node.policy != MemoryPolicy::none)
      return fmt::format("Tagged {} in the partitioned capture", to_string(node.policy));
    return tensor.action == PlanAction::recompute ? "The captured backward recomputes it"
                                                  : "The captured forward saves it for backward";
  }
  if (state.is_step())
    return is_by_edit(tensor) ? by_whom(state, tensor)
                              : fmt::format("{}: {}", capitalized(participle(tensor.action)),
                                            to_sentence(tensor.reason, node.policy));
  if (!tensor.is_needed) return "Not needed under this plan";
  const auto refused = std::ranges::find(state.refused, tensor.node, &PlanChange::Note::node);
  if (refused != state.refused.end()) return refused->text;
  if (is_by_edit(tensor)) return by_whom(state, tensor);
  const PlanReason* reason = reason_of(state, tensor.node);
  if (stands_as_solved(state, tensor) && reason != nullptr && !reason->text.empty())
    return in_a_sentence(tensor.action, reason->text);
  if (tensor.decider == Decider::capture)
    return fmt::format("Tagged {} in the capture", to_string(node.policy));
  // A choice for another tensor changed the plan.
  return tensor.action == PlanAction::recompute
             ? "Recomputed because of a choice for another tensor: this one can now be recomputed, "
               "or no longer has to be saved"
             : "Saved because a tensor chosen to be recomputed needs it";
}

std::string why_in_short(const SacState& state, const SacTensor& tensor) {
  if (!state.can_change())
    return tensor.action == PlanAction::recompute ? "recomputed" : "saved for backward";
  if (!tensor.is_needed) return "not needed";
  if (is_by_edit(tensor)) return "by " + decider_words(tensor.decider);
  if (state.is_step()) return std::string(in_short(tensor.reason));
  const PlanReason* reason = reason_of(state, tensor.node);
  if (!stands_as_solved(state, tensor) || reason == nullptr) return "by a choice elsewhere";
  switch (reason->kind) {
    case PlanReason::Kind::none:
      return "not needed";
    case PlanReason::Kind::tagged:
      return "tagged";
    case PlanReason::Kind::input:
      return "input";
    case PlanReason::Kind::cut:
      return tensor.action == PlanAction::recompute ? "cheap to recompute" : "min cut";
    case PlanReason::Kind::banned:
      return "not recomputable";
    case PlanReason::Kind::read_by_forward:
      return "read by backward";
    case PlanReason::Kind::knapsack:
      return "budget";
    case PlanReason::Kind::searched:
      return "by a search";
    case PlanReason::Kind::user:
      return "by hand";
    case PlanReason::Kind::region:
      return "read by a region";
    case PlanReason::Kind::chain:
      break;
  }
  return "part of a chain";
}

namespace {

SacTensor tensor_of(const Snapshot& snapshot, NodeId node, bool is_saved) {
  const Graph& graph = snapshot.graph;
  const Node& n = graph.node(node);
  const NodeId call = tuple_call(graph, node);
  SacTensor tensor{.node = node};
  tensor.recompute_ns = snapshot.analysis.costs_of_operators()[call.index()].ns;
  tensor.recompute_flops = snapshot.analysis.flops[call.index()].total;
  tensor.chain = 1;
  tensor.action = !is_saved                                    ? PlanAction::recompute
                  : n.policy == MemoryPolicy::must_cpu_offload ? PlanAction::offload
                                                               : PlanAction::save;
  tensor.decider = n.policy == MemoryPolicy::none ? Decider::partitioner : Decider::capture;
  return tensor;
}

// The rows of a pair.
std::vector<SacTensor> tensors_of_pair(const Snapshot& snapshot,
                                       const std::vector<SaveCandidate>& decided) {
  std::vector<SacTensor> tensors;
  for (const SaveCandidate& each : decided) {
    const bool is_saved = each.action != PlanAction::recompute;
    if (!is_saved && !runs_again(snapshot.graph, snapshot.graph.node(each.node))) continue;
    tensors.push_back(tensor_of(snapshot, each.node, is_saved));
    tensors.back().action = each.action;
    tensors.back().bytes = each.bytes;
  }
  return tensors;
}

// The rows of a graph without decisions, such as a single forward: one for each node whose memory
// is live until the backward, or which is recomputed.
std::vector<SacTensor> tensors_of_lifetimes(const Snapshot& snapshot) {
  const Graph& graph = snapshot.graph;
  std::vector<SacTensor> tensors;
  std::vector<std::int32_t> row_of(graph.node_count(), -1);
  for (const Lifetime& lifetime : snapshot.analysis.memory.lifetimes()) {
    const bool is_saved = lifetime.category == MemoryCategory::saved_activation;
    if (!lifetime.producer || (!is_saved && lifetime.category != MemoryCategory::recomputed))
      continue;
    std::int32_t& row = row_of[lifetime.producer.index()];
    if (row < 0) {
      row = static_cast<std::int32_t>(tensors.size());
      tensors.push_back(tensor_of(snapshot, lifetime.producer, is_saved));
    }
    tensors[static_cast<std::size_t>(row)].bytes += lifetime.bytes;
  }
  std::ranges::sort(tensors, {}, [&](const SacTensor& each) { return graph.position(each.node); });
  return tensors;
}

PlanFigures figures_of(const Snapshot& snapshot, const std::vector<SacTensor>& tensors) {
  PlanFigures figures;
  for (const SacTensor& tensor : tensors)
    if (tensor.action != PlanAction::recompute)
      (tensor.action == PlanAction::save ? figures.saved_bytes : figures.offloaded_bytes) +=
          tensor.bytes;
  for (const NodeId id : snapshot.graph.order()) {
    if (!snapshot.graph.node(id).has(Node::recomputed)) continue;
    ++figures.recomputed;
    figures.recompute_ns += snapshot.analysis.costs_of_operators()[id.index()].ns;
    figures.recompute_flops += snapshot.analysis.flops[id.index()].total;
  }
  return figures;
}

}  // namespace

SacStatePtr state_as_captured(const SnapshotPtr& snapshot) {
  const Graph& graph = snapshot->graph;
  const Analysis& analysis = snapshot->analysis;
  auto state = std::make_shared<SacState>();
  state->snapshot = snapshot;
  if (const auto decided =
          partitioned_values(graph, analysis.costs_of_operators(), analysis.flops)) {
    state->tensors = tensors_of_pair(*snapshot, *decided);
    state->figures = partitioned_figures(graph, *decided);
    state->rows = plan_rows(graph, *decided, graph);
  } else {  // no pair
    state->tensors = tensors_of_lifetimes(*snapshot);
    state->figures = figures_of(*snapshot, state->tensors);
  }
  state->figures.figures = {analysis.memory.peak_bytes(), analysis.simulation.step_ns(),
                            analysis.simulation.exposed_ns()};
  state->figures.compute_ns = analysis.simulation.compute_ns();
  const auto profile = analysis.memory.profile();
  state->profile.assign(profile.begin(), profile.end());
  state->tensor_by_node.assign(graph.node_count(), -1);
  for (std::size_t i = 0; i < state->tensors.size(); ++i)
    state->tensor_by_node[state->tensors[i].node.index()] = static_cast<std::int32_t>(i);
  return state;
}

}  // namespace jointer::views
