#pragma once

// Which tensors of a graph are saved, recomputed or offloaded, and the resulting estimates. States
// are created on a worker thread and are immutable; panes share them. Does not use Qt.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/partition/partition.h"
#include "core/partition/plan_rows.h"
#include "core/partition/plan_totals.h"
#include "core/partition/plan_what_if.h"
#include "core/policy/decider.h"
#include "core/policy/step_values.h"
#include "views/session/sac/plan_outcome.h"
#include "views/session/sac/solve_settings.h"
#include "views/session/snapshot/snapshot.h"

namespace jointer::views {

// The kind of a graph, which determines the effect of choices.
enum class SacKind : std::uint8_t {
  joint,  // a partitioner makes a plan, and choices are applied on top of it
  step,   // forward, loss and backward in one graph; choices are tags, which are then applied to it
  partitioned,  // a pair or any other graph, shown as captured
};
SacKind sac_kind(const Graph& graph);

// A partitioner's result and the data needed to evaluate other plans.
struct SacBase : PlanOutcome {
  SnapshotPtr snapshot;  // has the costs; its graph is the one solved, except for policies
  SolveSettings settings;
  std::vector<MemoryPolicy> policies;      // by node, when the plan was solved
  MemoryPolicy fsdp = MemoryPolicy::none;  // of the graph as opened (core/policy/with_fsdp.h)
  Partition partition;
  std::unique_ptr<const PlanWhatIf> what_if;  // evaluates plans of partition.joint
  std::vector<SaveCandidate> candidates;      // in program order
  std::vector<std::int8_t> actions;           // by node: the PlanAction of a candidate, or -1
};
using SacBasePtr = std::shared_ptr<const SacBase>;

// A flat training step without its tags applied.
struct SacStep : PlanOutcome {
  SnapshotPtr snapshot;                       // the step's graph, except for policies
  std::unique_ptr<const PlanWhatIf> what_if;  // evaluates plans of that graph
};
using SacStepPtr = std::shared_ptr<const SacStep>;

// The result of applying a flat training step's tags, in addition to its estimates.
struct AppliedTags {
  bool any = false;     // the step has tags that are not applied yet
  std::string refusal;  // why the tags cannot be applied; if set, the estimates ignore the tags
  std::int64_t reserved_bytes = 0;
  std::vector<NodeId> saved_at_peak;  // best candidates for recomputation first
};

// A tensor that the backward needs: one row of the SAC pane. For the estimates, see SaveCandidate.
struct SacTensor {
  NodeId node;
  std::int64_t bytes = 0;
  std::int64_t recompute_ns = 0;
  std::int64_t recompute_flops = 0;
  std::size_t chain = 0;
  PlanAction action = PlanAction::recompute;
  Decider decider = Decider::partitioner;
  bool is_needed = true;   // by this plan; if false, it was needed by the plan as solved
  std::int32_t edit = -1;  // index of the edit that decided; -1 if none did, or if it is pending
  StepReason reason = StepReason::untagged;  // for a flat training step

  // Returns true if choices can no longer change the policy.
  [[nodiscard]] bool is_settled() const { return reason == StepReason::applied; }
};

struct SacState : PlanOutcome {
  SnapshotPtr snapshot;  // for names and shapes; its policies may be outdated, see `tensors`
  SacKind kind = SacKind::partitioned;
  SacBasePtr base;           // for a joint graph; otherwise null
  SacStepPtr step;           // for a flat training step; otherwise null
  AppliedTags applied_tags;  // of the flat training step
  SavePlan plan;
  std::shared_ptr<const PlanTotals> totals;  // for the plan of a joint graph; otherwise null
  std::vector<SacTensor> tensors;            // in program order
  std::vector<std::int32_t> tensor_by_node;  // index in `tensors`, or -1
  // One row per value, for comparison with other states; the rows add up to the estimates. Nodes
  // are those of the base's joint graph or, without a base, of the snapshot. Empty if the state is
  // incomplete, or if the graph is not a joint graph, a flat training step or a pair.
  std::vector<PlanRow> rows;
  std::vector<std::string> edits;         // titles of the history's edits
  std::vector<NodeId> searched;           // nodes with tags set by a search
  std::vector<PlanChange::Note> refused;  // policies that no plan can satisfy
  // For a flat training step, by node: the policies not set by a search (kSearch).
  std::vector<MemoryPolicy> own_policies;
  bool has_own_policies = false;  // some of these were set since the graph was opened
  // The passes that the search found to reorder the plan's graph; empty for the plan's own order.
  // All estimates here are for the plan's own order; see PlanOrdered for the others.
  std::string order;

  [[nodiscard]] bool can_change() const { return kind != SacKind::partitioned; }
  [[nodiscard]] bool is_step() const { return kind == SacKind::step; }
  // Evaluates other plans of the same graph; null if nothing can change.
  [[nodiscard]] const PlanWhatIf* what_if() const {
    return is_step() ? step->what_if.get() : base ? base->what_if.get() : nullptr;
  }
  // Returns true if both states have plans for the same graph, so that one can replace the other.
  [[nodiscard]] bool has_graph_of(const SacState& other) const {
    return base == other.base && step == other.step;
  }
  // The settings that the plan of a joint graph was solved with; for other graphs, the defaults.
  [[nodiscard]] SolveSettings settings() const { return base ? base->settings : SolveSettings(); }
  // The base that changes are compared with: the plan as solved, or the step without tags.
  // Null if nothing can change.
  [[nodiscard]] const PlanOutcome* reference() const {
    return is_step() ? static_cast<const PlanOutcome*>(step.get()) : base.get();
  }
  [[nodiscard]] const SacTensor* tensor_of(NodeId node) const {
    const std::int32_t index =
        node && node.index() < tensor_by_node.size() ? tensor_by_node[node.index()] : -1;
    return index < 0 ? nullptr : &tensors[static_cast<std::size_t>(index)];
  }
};
using SacStatePtr = std::shared_ptr<const SacState>;

// Returns true if `state`, which may be null, has a plan for this graph. Until the state of a new
// graph is computed, a session has that of the earlier graph.
bool is_plan_for(const SacStatePtr& state, const Graph& graph);

// A value that is saved on the device, and the bytes that are saved for it (SaveCandidate::bytes).
struct SavedValue {
  NodeId node;
  std::int64_t bytes = 0;
};
using SavedValues = std::vector<SavedValue>;
// The values that the state's plan saves. Their bytes add up to PlanFigures::saved_bytes, except
// that this also counts the states of random generators, if host and device share memory.
SavedValues saved_values_of(const SacState& state);

// Returns true if the device has a caching allocator, which reserves memory.
bool has_reserved(const SacState& state);

// The policy for a choice; nullopt leaves the decision to the partitioner.
MemoryPolicy policy_of(std::optional<PlanAction> action);

// Why a tensor has its policy, in one sentence.
std::string why(const SacState& state, const SacTensor& tensor);
// A short version for table cells: "min cut", "not recomputable", "tagged".
std::string why_in_short(const SacState& state, const SacTensor& tensor);

// The saved, recomputed and offloaded tensors of a graph that choices cannot change: a pair, or any
// graph of another kind.
SacStatePtr state_as_captured(const SnapshotPtr& snapshot);

}  // namespace jointer::views
