#pragma once

// What of a graph is saved, recomputed or offloaded, and what that comes to. States are made on a
// working thread and never change; panes share them. No Qt.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/partition/partition.h"
#include "core/partition/plan_what_if.h"
#include "core/policy/step_values.h"
#include "views/document/snapshot.h"
#include "views/sac/plan_outcome.h"
#include "views/sac/solve_settings.h"

namespace jointer::views {

// Who decided what becomes of a tensor.
enum class Decider : std::uint8_t {
  partitioner,
  person,   // ticked
  list,     // an operator list or a preset
  capture,  // a tag that the capture came with, or what a capture that is partitioned has
  nobody,   // of a flat step: it stands as it was captured
};
inline constexpr std::size_t kDeciders = 5;
std::string_view to_string(Decider decider);

// What a graph is, as far as its tags go.
enum class SacKind : std::uint8_t {
  joint,        // a partitioner cuts it: ticks are laid over its plan
  step,         // forward, loss and backward in one: ticks are tags, carried out in it
  partitioned,  // a pair, or another graph that is shown as it is
};
SacKind sac_kind(const Graph& graph);

// What a partitioner gave, and what is needed to ask what another plan would come to.
struct SacBase : PlanOutcome {
  SnapshotPtr snapshot;  // its costs; its graph but for policies is the one that was solved
  SolveSettings settings;
  std::vector<MemoryPolicy> policies;  // by node, as they were when it was solved
  MemoryPolicy fsdp =
      MemoryPolicy::none;  // of the graph as it was opened (core/policy/with_fsdp.h)
  Partition partition;
  std::unique_ptr<const PlanWhatIf> what_if;  // of partition.joint
  std::vector<SaveCandidate> candidates;      // in program order
  std::vector<std::int8_t> keep;              // by node: of a candidate its Keep, else -1
};
using SacBasePtr = std::shared_ptr<const SacBase>;

// A flat step as the document has it, with no tag carried out.
struct SacStep : PlanOutcome {
  SnapshotPtr snapshot;  // its graph but for policies
};
using SacStepPtr = std::shared_ptr<const SacStep>;

// What carrying out the tags of a flat step came to, beside its figures.
struct SacCarriedOut {
  bool any = false;     // there are tags that the step does not have carried out yet
  std::string refusal;  // why they cannot be: then everything is as the step stands; else empty
  std::int64_t reserved_bytes = 0;
  std::vector<NodeId> saved_at_peak;  // the best to recompute first
};

// A row of the pane.
struct SacTensor {
  NodeId node;
  std::int64_t bytes = 0;
  std::int64_t recompute_ns = 0;
  std::int64_t recompute_flops = 0;
  std::size_t chain = 0;
  Keep keep = Keep::recompute;
  Decider decider = Decider::partitioner;
  bool is_needed = true;   // the backward needs it under this plan; else it did as it was solved
  std::int32_t edit = -1;  // which edit of the line decided it; -1: none, or it is about to be done
  StepReason reason = StepReason::untagged;  // of a flat step's

  // No tick changes it any more.
  [[nodiscard]] bool is_settled() const { return reason == StepReason::carried_out; }
};

struct SacState : PlanOutcome {
  SnapshotPtr snapshot;  // names and shapes; of its policies only what `tensors` say counts
  SacKind kind = SacKind::partitioned;
  SacBasePtr base;            // of a joint graph; else null
  SacStepPtr step;            // of a flat step; else null
  SacCarriedOut carried_out;  // the same
  SavePlan plan;
  std::vector<SacTensor> tensors;            // in program order
  std::vector<std::int32_t> tensor_by_node;  // -1 for none
  std::vector<std::string> edits;            // titles of the line's edits
  std::vector<PlanChange::Note> refused;     // policies that no plan can have

  [[nodiscard]] bool can_change() const { return kind != SacKind::partitioned; }
  [[nodiscard]] bool is_step() const { return kind == SacKind::step; }
  // What changes are told beside: the plan as it was solved, or the step as it stands. Null where
  // nothing can change.
  [[nodiscard]] const PlanOutcome* beside() const {
    return is_step() ? static_cast<const PlanOutcome*>(step.get()) : base.get();
  }
  [[nodiscard]] const SacTensor* tensor_of(NodeId node) const {
    const std::int32_t index =
        node && node.index() < tensor_by_node.size() ? tensor_by_node[node.index()] : -1;
    return index < 0 ? nullptr : &tensors[static_cast<std::size_t>(index)];
  }
};
using SacStatePtr = std::shared_ptr<const SacState>;

// A policy for nodes: save, recompute, offload; or whatever the partitioner decides.
MemoryPolicy policy_of(std::optional<Keep> keep);
std::optional<Keep> keep_of(MemoryPolicy policy);

// Why a tensor is kept as it is, in one sentence.
std::string why(const SacState& state, const SacTensor& tensor);
// The same in a word or two, for many tensors: "cut", "not recomputable", "tagged".
std::string why_in_short(const SacState& state, const SacTensor& tensor);

// What a graph that is partitioned already hands over and makes again.
SacStatePtr state_as_captured(const SnapshotPtr& snapshot);

}  // namespace jointer::views
