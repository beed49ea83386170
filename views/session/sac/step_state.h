#pragma once

// States of a flat training step: the figures with its tags applied. step_state.cpp describes the
// algorithm. No Qt.

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "views/session/edit/edit_history.h"
#include "views/session/sac/sac_state.h"

namespace jointer::views {

// The step without its tags applied. Error (usage): see `kept_values`.
Result<SacStepPtr> make_step(const SnapshotPtr& snapshot);

// Applies these policies, given by node; the caller sets `snapshot`, `edits` and the deciders. If
// they cannot be applied, the state is that of the step without tags and `applied_tags.refusal` has
// the reason. Error (usage): an estimate failed.
Result<std::shared_ptr<SacState>> apply_tags(const SacStepPtr& step,
                                             const std::vector<MemoryPolicy>& policies);

// The nodes that a tick on these tensors tags. Excludes settled ones. To recompute one part of a
// tuple, the call that returns the tuple is tagged as well, since otherwise no memory would be
// freed.
std::vector<NodeId> nodes_to_tag(const SacState& state, std::span<const NodeId> nodes,
                                 std::optional<Keep> keep);

// Caches states, so that moving through the history finds them again.
class StepStates {
 public:
  // `calls`: the edits that change calls and not only tags.
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
  std::deque<KnownState> states_;  // likewise
};

}  // namespace jointer::views
