#pragma once

// States of a flat training step: the estimates with its tags applied. step_state.cpp describes the
// algorithm.

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "views/session/edit/edit_history.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

// Returns true if both graphs, the results of the same edits, have the same node ids. After redo,
// added nodes may have different ids.
bool has_same_nodes(const Graph& a, const Graph& b);

// The state's step without the tags that searches set; later searches may change those.
Graph step_with_own_tags(const SacState& state);

// The values that a flat training step saves, recomputes and offloads with its tags applied or, if
// they cannot be applied, without them: the plan of its state, found without an analysis. Error
// (usage): same as partitioned_values. Cost: linear in nodes or, with tags, that of applying them.
Result<SavePlan> plan_of_tags(const Graph& tagged);
// That plan, and the values that it saves on the device. Error and cost: same as plan_of_tags.
struct TagsOutcome {
  SavePlan plan;
  SavedValues saved;
};
Result<TagsOutcome> outcome_of_tags(const Graph& tagged);
// Returns true if a flat training step has tags to recompute or offload. They may be applied
// already.
bool has_step_tags(const Graph& graph);

// The nodes to tag when the user chooses a policy for these tensors, without settled ones. If the
// policy is to recompute, the call that returns a tuple is added for each element of the tuple,
// since otherwise no memory would be freed. In a flat training step, recomputing also adds the
// values from which the nodes are computed, back to saved ones, and leaves out nodes that cannot be
// recomputed, unless none of them can.
std::vector<NodeId> nodes_to_tag(const SacState& state, std::span<const NodeId> nodes,
                                 std::optional<PlanAction> action);

// The number of layers of a flat training step that recompute most of their values and have an
// input that another such layer recomputes. Checkpointing saves these inputs. Cost: linear.
std::size_t layers_with_recomputed_input(const SacState& state);

// Caches states, so that moving through the history does not compute them again.
class StepStates {
 public:
  // The state of the graph of `now` under these policies, indexed by node; the caller sets
  // `snapshot`, the deciders and all else that depends on the history. If the policies cannot be
  // applied, the state is that of the step without tags, and `applied_tags.refusal` says why.
  // `calls`: the edits from `baseline` to `now` that change more than tags. Errors: see
  // `analyze_step` and `partitioned_values`.
  Result<SacStatePtr> state(const SnapshotPtr& now, const SnapshotPtr& baseline,
                            const EditHistory& calls, const std::vector<MemoryPolicy>& policies);

 private:
  struct KnownStep {
    SnapshotPtr baseline;
    EditHistory calls;
    SacStepPtr step;
  };
  struct KnownState {
    SacStepPtr step;
    std::vector<MemoryPolicy> policies;
    SacStatePtr state;
  };
  Result<SacStepPtr> step_of(const SnapshotPtr& now, const SnapshotPtr& baseline,
                             const EditHistory& calls);

  std::deque<KnownStep> steps_;    // most recently used first
  std::deque<KnownState> states_;  // most recently used first
};

}  // namespace jointer::views
