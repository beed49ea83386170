#pragma once

// States of a flat training step: what it comes to with its tags carried out. How is at the top of
// step_state.cpp. No Qt.

#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "views/edit/edit_line.h"
#include "views/sac/sac_state.h"

namespace jointer::views {

// The step as it stands. Error (usage): as kept_values.
Result<SacStepPtr> make_step(const SnapshotPtr& snapshot);

// The step with these policies carried out, by node; `snapshot`, `edits` and who decided are left
// to the caller. Where they cannot be carried out everything is as the step stands, and
// `carried_out.refusal` says why. Error (usage): an estimate cannot be made.
Result<std::shared_ptr<SacState>> carry_out(const SacStepPtr& step,
                                            const std::vector<MemoryPolicy>& policies);

// What a tick about these tensors tags: settled ones are left out, and where a part of a tuple is
// to be made again, so is the call that makes the tuple, without which nothing would be freed.
std::vector<NodeId> nodes_to_tag(const SacState& state, std::span<const NodeId> nodes,
                                 std::optional<Keep> keep);

// Keeps what was made, so that going back and forth in the history finds it.
class StepStates {
 public:
  // `calls`: the edits that gave the graph its calls, and not only tags.
  Result<SacStatePtr> state(const SnapshotPtr& now, const SnapshotPtr& baseline,
                            const EditLine& calls, const std::vector<MemoryPolicy>& policies);

 private:
  struct KnownStep {
    SnapshotPtr baseline;
    EditLine calls;
    SacStepPtr step;
  };
  struct KnownState {
    SacStepPtr step;
    std::vector<MemoryPolicy> policies;
    SacStatePtr state;
  };
  Result<SacStepPtr> step_of(const SnapshotPtr& now, const SnapshotPtr& baseline,
                             const EditLine& calls);

  std::deque<KnownStep> steps_;    // the last used first
  std::deque<KnownState> states_;  // the same
};

}  // namespace jointer::views
