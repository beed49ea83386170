// Describes the values of a flat training step, after its tags are applied, in terms of the nodes
// of the tagged graph.
//
// Terms: a copy is a call that was inserted into the backward to recompute another call when the
// tags were applied. The saved values are those that partitioned_values finds in the step.
//
//   1. A saved or offloaded value is a value in the tagged graph.
//   2. A copy represents the call that it repeats, unless that call is a saved value as well. In
//      that case, the backward reads the call's result before it recomputes anything, and the
//      result is saved until then.
//   3. A recomputed call that the tagged graph already has represents itself, since new tags do not
//      remove it.
//
// The reason for a decision is the tag if it took effect. Otherwise, it is the obstacle or, for an
// untagged value, the reader of the value.

#include "core/policy/step_values.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/graph/memory_policy.h"
#include "core/partition/recompute_tags.h"

namespace jointer {
namespace {

class Teller {
 public:
  Teller(const Graph& tagged, const Graph& step)
      : tagged_(tagged),
        step_(step),
        is_read_(step.node_count(), false),
        went_before_(tagged.node_count(), false) {
    for (const NodeId id : step.order()) {
      const Node& n = step.node(id);
      if (n.kind != NodeKind::call || n.phase != Phase::backward || n.has(Node::recomputed))
        continue;
      for (const NodeId input : step.inputs(id)) is_read_[input.index()] = true;
    }
    for (const NodeId id : tagged.order())
      if (const Node& n = tagged.node(id); tagged.is_transfer(n) && n.phase == Phase::forward)
        went_before_[tagged.inputs(id).front().index()] = true;
  }

  // The node of the tagged graph that `id` represents; may be null.
  [[nodiscard]] NodeId stands_for(NodeId id) const {
    const NodeId known = is_new(id) ? step_.node(id).origin : id;
    return known && !is_new(known) ? known : NodeId{};
  }

  [[nodiscard]] StepReason reason(NodeId id, PlanAction action) const {
    const MemoryPolicy policy = tagged_.node(id).policy;
    switch (action) {
      case PlanAction::recompute:
        return tagged_.node(id).has(Node::recomputed) ? StepReason::applied : StepReason::tagged;
      case PlanAction::offload:
        return went_before_[id.index()] ? StepReason::applied : StepReason::tagged;
      case PlanAction::save:
        break;
    }
    const bool is_read = is_read_[id.index()];
    if (must_recompute(tagged_.node(id))) return StepReason::read_before;
    if (policy == MemoryPolicy::must_cpu_offload)
      return is_read ? StepReason::stays : StepReason::stays_for_copies;
    if (policy != MemoryPolicy::none) return StepReason::tagged;
    return is_read ? StepReason::untagged : StepReason::read_by_copies;
  }

 private:
  [[nodiscard]] bool is_new(NodeId id) const { return id.index() >= tagged_.node_count(); }

  const Graph& tagged_;
  const Graph& step_;
  std::vector<bool> is_read_;  // indexed by node id: read by the backward's own calls
  // Indexed by node id: already copied to the host in the tagged graph.
  std::vector<bool> went_before_;
};

}  // namespace

std::string to_sentence(StepReason reason, MemoryPolicy policy) {
  std::string tagged = fmt::format("tagged {}", to_string(policy));
  switch (reason) {
    case StepReason::untagged:
      return "the backward reads it, and it has no tag";
    case StepReason::read_by_copies:
      return "a recomputed call reads it, and it has no tag";
    case StepReason::tagged:
      return tagged;
    case StepReason::read_before:
      return tagged + ", but the backward reads it before it recomputes anything";
    case StepReason::stays:
      return tagged +
             ", but it stays on the device: its memory is written to later, it is returned, or the "
             "forward still reads it after the backward first does";
    case StepReason::stays_for_copies:
      return tagged + ", but it stays on the device: only recomputed calls read it";
    case StepReason::applied:
      break;
  }
  return "its tag was applied earlier, and later tags do not undo that";
}

std::vector<StepValue> step_values(const Graph& tagged, const Graph& step,
                                   std::span<const SaveCandidate> decided) {
  const Teller teller(tagged, step);
  std::vector<StepValue> values;
  std::vector<bool> has(tagged.node_count(), false);
  const auto add = [&](const SaveCandidate& each) {
    const NodeId node = teller.stands_for(each.node);
    if (!node || has[node.index()]) return;
    has[node.index()] = true;
    StepValue value{each, teller.reason(node, each.action)};
    value.node = node;
    values.push_back(value);
  };
  // Values that are not recomputed are added first, so that recomputed values with the same node
  // are ignored.
  for (const SaveCandidate& each : decided)
    if (each.action != PlanAction::recompute) add(each);
  for (const SaveCandidate& each : decided)
    if (each.action == PlanAction::recompute) add(each);
  std::ranges::sort(values, {}, [&](const StepValue& v) { return tagged.position(v.node); });
  return values;
}

}  // namespace jointer
