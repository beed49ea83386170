#pragma once

// Computes states of a document: the last plan solved before a history entry, with all policies set
// since; for a flat training step, the step with its tags applied. Must be used by one thread at a
// time. sac_solver.cpp describes the algorithm. No Qt.

#include <deque>
#include <optional>
#include <span>

#include "views/session/edit/edit_history.h"
#include "views/session/sac/budget_trial.h"
#include "views/session/sac/policy_trail.h"
#include "views/session/sac/sac_state.h"
#include "views/session/sac/step_state.h"

namespace jointer::views {

// A requested policy that is not yet in the document.
struct PolicyTick {
  std::vector<NodeId> nodes;
  std::optional<Keep> keep;  // none: leave it to the partitioner
};

struct SacRequest {
  SnapshotPtr now, baseline;
  EditHistory history;  // edits from `baseline` to `now`
  std::vector<PolicyTick> ticks;
};

class SacSolver {
 public:
  // Error (usage): no legal cut exists; nothing that the last tick requests is possible, with the
  // reason; or the tags of a flat training step cannot be applied because of that tick.
  Result<SacStatePtr> state(const SacRequest& request);
  // A quick version of `state`: figures and curve are those of the state, but the recomputation
  // costs of tensors are still those of `shown`, unless `is_complete`.
  struct Glimpse {
    SacStatePtr state;
    bool is_complete = false;
  };
  Result<Glimpse> glimpse(const SacRequest& request, const SacState& shown);
  // Computes only figures and curve.
  Result<PlanOutcomePtr> outcome(const SacRequest& request);

  // Settings to solve with.
  struct Wish {
    SolveSettings settings;
    // Search the largest activation budget whose peak fits, ignoring the budget of the settings.
    std::optional<std::int64_t> max_peak;
  };
  struct Trial {
    SolveSettings settings;
    PlanOutcomePtr outcome;
    bool fits = true;  // the peak is within the wish's limit
  };
  Result<Trial> try_solving(const SacRequest& request, const Wish& wish);

 private:
  struct KnownBase {
    SnapshotPtr baseline;
    std::vector<DoneEditPtr> edits;  // edits that change the graph, then the one that solved
    SacBasePtr base;
  };
  struct KnownState {
    SacBasePtr base;
    std::vector<MemoryPolicy> policies;  // by node, for nodes with a choice
    SacStatePtr state;
  };

  Result<SacBasePtr> base_of(const SacRequest& request);
  [[nodiscard]] SacStatePtr known_state(const SacBasePtr& base,
                                        const std::vector<MemoryPolicy>& policies);
  Result<SacStatePtr> state_of(const SacBasePtr& base, const std::vector<MemoryPolicy>& policies);
  [[nodiscard]] SacStatePtr with_deciders(const SacState& state, const SacRequest& request);
  // Leaves out who decided.
  Result<SacStatePtr> state_of_step(const SacRequest& request);

  // The last trial: the same graph, policies and settings, except for the budget.
  struct KnownTrial {
    SacBasePtr base;
    std::vector<MemoryPolicy> policies;
    SolveSettings settings;
    std::unique_ptr<BudgetTrial> trial;
  };

  Result<BudgetTrial*> trial_of(const SacRequest& request, SolveSettings settings);

  PolicyTrails trails_;
  std::deque<KnownBase> bases_;    // most recently used first
  std::deque<KnownState> states_;  // likewise
  KnownTrial trial_;
  StepStates steps_;
};

}  // namespace jointer::views
