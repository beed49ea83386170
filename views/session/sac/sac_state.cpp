#include "views/session/sac/sac_state.h"

#include <fmt/core.h>

#include <algorithm>

namespace jointer::views {
namespace {

const PlanReason* reason_of(const SacState& state, NodeId node) {
  if (!state.base || node.index() >= state.base->partition.reasons.size()) return nullptr;
  return &state.base->partition.reasons[node.index()];
}

// Returns true if the tensor's policy is unchanged since the plan was solved.
bool stands_as_solved(const SacState& state, const SacTensor& tensor) {
  return state.base && tensor.node.index() < state.base->keep.size() &&
         state.base->keep[tensor.node.index()] == static_cast<std::int8_t>(tensor.keep);
}

std::string_view participle(Keep keep) {
  switch (keep) {
    case Keep::save:
      return "Saved";
    case Keep::recompute:
      return "Recomputed";
    case Keep::offload:
      break;
  }
  return "Offloaded";
}

// Reasons that already say "recomputed" only need a capital letter.
std::string in_a_sentence(Keep keep, const std::string& reason) {
  if (!reason.starts_with("recomputed")) return fmt::format("{}: {}", participle(keep), reason);
  return static_cast<char>(reason.front() - 'a' + 'A') + reason.substr(1);
}

// "hand", "a list"
std::string decider_words(Decider decider) {
  return decider == Decider::person ? "hand" : fmt::format("a {}", to_string(decider));
}

// The decider and the edit: "Saved by hand: Save mm_3".
std::string by_whom(const SacState& state, const SacTensor& tensor) {
  if (tensor.edit < 0) return fmt::format("{} by hand", participle(tensor.keep));
  return fmt::format("{} by {}: {}", participle(tensor.keep), decider_words(tensor.decider),
                     state.edits[static_cast<std::size_t>(tensor.edit)]);
}

// Returns true if an edit decided: the user's, a list's, a preset's or a search's.
bool is_by_edit(const SacTensor& tensor) {
  return tensor.decider == Decider::person || tensor.decider == Decider::list ||
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

MemoryPolicy policy_of(std::optional<Keep> keep) {
  if (!keep) return MemoryPolicy::none;
  switch (*keep) {
    case Keep::save:
      return MemoryPolicy::must_save;
    case Keep::recompute:
      return MemoryPolicy::must_recompute;
    case Keep::offload:
      break;
  }
  return MemoryPolicy::must_cpu_offload;
}

std::string why(const SacState& state, const SacTensor& tensor) {
  const Node& node = state.snapshot->graph.node(tensor.node);
  if (!state.can_change()) {
    if (node.policy != MemoryPolicy::none)
      return fmt::format("The partitioned capture tags it {}", to_string(node.policy));
    return tensor.keep == Keep::recompute ? "The captured backward recomputes it"
                                          : "The captured forward saves it for backward";
  }
  if (state.is_step())
    return is_by_edit(tensor) ? by_whom(state, tensor)
                              : fmt::format("{}: {}", participle(tensor.keep),
                                            to_sentence(tensor.reason, node.policy));
  if (!tensor.is_needed) return "Not needed under this plan";
  const auto refused =
      std::find_if(state.refused.begin(), state.refused.end(),
                   [&](const PlanChange::Note& note) { return note.node == tensor.node; });
  if (refused != state.refused.end()) return refused->text;
  if (is_by_edit(tensor)) return by_whom(state, tensor);
  const PlanReason* reason = reason_of(state, tensor.node);
  if (stands_as_solved(state, tensor) && reason != nullptr && !reason->text.empty())
    return in_a_sentence(tensor.keep, reason->text);
  if (tensor.decider == Decider::capture)
    return fmt::format("Tagged {} in the capture", to_string(node.policy));
  // A choice for another tensor changed the plan.
  return tensor.keep == Keep::recompute ? "Recomputed because of a choice for another tensor: it "
                                          "can now be recomputed, or is no longer needed"
                                        : "Saved because a tensor chosen to be recomputed needs it";
}

std::string why_in_short(const SacState& state, const SacTensor& tensor) {
  if (!state.can_change())
    return tensor.keep == Keep::recompute ? "recomputed" : "saved for backward";
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
      return tensor.keep == Keep::recompute ? "cheap to recompute" : "min cut";
    case PlanReason::Kind::banned:
      return "not recomputable";
    case PlanReason::Kind::read_by_forward:
      return "read by backward";
    case PlanReason::Kind::knapsack:
      return "budget";
    case PlanReason::Kind::searched:
      return "by a search";
    case PlanReason::Kind::person:
      return "by hand";
    case PlanReason::Kind::region:
      return "read by a region";
    case PlanReason::Kind::chain:
      break;
  }
  return "part of a chain";
}

namespace {

SacTensor tensor_of_lifetime(const Snapshot& snapshot, const Lifetime& lifetime, NodeId node,
                             bool is_kept) {
  const Node& n = snapshot.graph.node(node);
  SacTensor tensor{.node = node, .bytes = lifetime.bytes};
  tensor.recompute_ns = snapshot.analysis.costs[node.index()].ns;
  tensor.recompute_flops = snapshot.analysis.flops[node.index()].total;
  tensor.chain = 1;
  tensor.keep = !is_kept                                     ? Keep::recompute
                : n.policy == MemoryPolicy::must_cpu_offload ? Keep::offload
                                                             : Keep::save;
  tensor.decider = n.policy == MemoryPolicy::none ? Decider::partitioner : Decider::capture;
  return tensor;
}

}  // namespace

SacStatePtr state_as_captured(const SnapshotPtr& snapshot) {
  const Graph& graph = snapshot->graph;
  auto state = std::make_shared<SacState>();
  state->snapshot = snapshot;
  state->tensor_by_node.assign(graph.node_count(), -1);
  PlanFigures& figures = state->figures;
  figures.figures = {snapshot->analysis.memory.peak_bytes(),
                     snapshot->analysis.simulation.step_ns(),
                     snapshot->analysis.simulation.exposed_ns()};
  const auto profile = snapshot->analysis.memory.profile();
  state->profile.assign(profile.begin(), profile.end());
  for (const Lifetime& lifetime : snapshot->analysis.memory.lifetimes()) {
    const bool is_kept = lifetime.category == MemoryCategory::saved_activation;
    if (!lifetime.producer || (!is_kept && lifetime.category != MemoryCategory::recomputed))
      continue;
    NodeId node = lifetime.producer;
    if (const NodeId partner = graph.node(node).partner; is_kept && partner) node = partner;
    state->tensors.push_back(tensor_of_lifetime(*snapshot, lifetime, node, is_kept));
    if (!is_kept) continue;
    figures.saved_bytes += lifetime.bytes;
    if (state->tensors.back().keep == Keep::offload) figures.offloaded_bytes += lifetime.bytes;
  }
  std::sort(state->tensors.begin(), state->tensors.end(),
            [&](const SacTensor& a, const SacTensor& b) {
              return graph.position(a.node) < graph.position(b.node);
            });
  for (std::size_t i = 0; i < state->tensors.size(); ++i)
    state->tensor_by_node[state->tensors[i].node.index()] = static_cast<std::int32_t>(i);
  for (const NodeId id : graph.order()) {
    if (!graph.node(id).has(Node::recomputed)) continue;
    ++figures.recomputed;
    figures.recompute_ns += snapshot->analysis.costs[id.index()].ns;
    figures.recompute_flops += snapshot->analysis.flops[id.index()].total;
  }
  return state;
}

}  // namespace jointer::views
