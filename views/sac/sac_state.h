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
};
inline constexpr std::size_t kDeciders = 4;
std::string_view to_string(Decider decider);

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
};

struct SacState : PlanOutcome {
  SnapshotPtr snapshot;  // names and shapes; of its policies only what `tensors` say counts
  SacBasePtr base;       // null for a graph that is partitioned already: nothing can be ticked
  SavePlan plan;
  std::vector<SacTensor> tensors;            // in program order
  std::vector<std::int32_t> tensor_by_node;  // -1 for none
  std::vector<std::string> edits;            // titles of the line's edits
  std::vector<PlanChange::Note> refused;     // policies that no plan can have

  [[nodiscard]] bool can_change() const { return base != nullptr; }
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

// What a graph that is partitioned already, or a flat step, hands over and makes again.
SacStatePtr state_as_captured(const SnapshotPtr& snapshot);

// Whether a graph is one that a partitioner cuts.
inline bool is_joint(const Graph& graph) {
  return graph.part_count() == 1 && graph.part(PartId(0)).kind == CaptureKind::joint;
}

}  // namespace jointer::views
