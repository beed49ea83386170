#pragma once

// Makes states of a document: what was solved last before a place in the history, and on top of it
// every policy that was set since; of a flat step, its tags carried out. Used on one thread at a
// time. How is at the top of sac_solver.cpp. No Qt.

#include <deque>
#include <optional>
#include <span>

#include "views/edit/edit_line.h"
#include "views/sac/budget_trial.h"
#include "views/sac/policy_trail.h"
#include "views/sac/sac_state.h"
#include "views/sac/step_state.h"

namespace jointer::views {

// A policy that was asked for and is not yet in the document.
struct PolicyTick {
  std::vector<NodeId> nodes;
  std::optional<Keep> keep;  // none: as the partitioner decides
};

struct SacRequest {
  SnapshotPtr now, baseline;
  EditLine line;  // from the one to the other
  std::vector<PolicyTick> ticks;
};

class SacSolver {
 public:
  // Error (usage): no legal cut exists; or nothing that the last tick asks for is possible, and
  // why; or the tags of a flat step cannot be carried out with it, and could be without.
  Result<SacStatePtr> state(const SacRequest& request);
  // The same at once: figures and the curve are those of the state, but what each tensor takes to
  // make again is still as in `shown`. Whether it is complete already is said with it.
  struct Glimpse {
    SacStatePtr state;
    bool is_complete = false;
  };
  Result<Glimpse> glimpse(const SacRequest& request, const SacState& shown);
  // Figures and the curve alone.
  Result<PlanOutcomePtr> outcome(const SacRequest& request);

  // What solving under other settings would come to.
  struct Wish {
    SolveSettings settings;
    // The largest activation budget whose peak fits is looked for; the settings' is not read.
    std::optional<std::int64_t> most_peak;
  };
  struct Trial {
    SolveSettings settings;
    PlanOutcomePtr outcome;
    bool fits = true;  // the most peak that was wished for
  };
  Result<Trial> try_solving(const SacRequest& request, const Wish& wish);

 private:
  struct KnownBase {
    SnapshotPtr baseline;
    std::vector<DoneEditPtr> edits;  // those that make another graph, then the one that solved it
    SacBasePtr base;
  };
  struct KnownState {
    SacBasePtr base;
    std::vector<MemoryPolicy> policies;  // by node, of nodes that have something to decide
    SacStatePtr state;
  };

  Result<SacBasePtr> base_of(const SacRequest& request);
  [[nodiscard]] SacStatePtr known_state(const SacBasePtr& base,
                                        const std::vector<MemoryPolicy>& policies);
  Result<SacStatePtr> state_of(const SacBasePtr& base, const std::vector<MemoryPolicy>& policies);
  [[nodiscard]] SacStatePtr with_deciders(const SacState& state, const SacRequest& request);
  // Without who decided.
  Result<SacStatePtr> state_of_step(const SacRequest& request);

  // The last one that was tried on: the same graph, policies and settings but for the budget.
  struct KnownTrial {
    SacBasePtr base;
    std::vector<MemoryPolicy> policies;
    SolveSettings settings;
    std::unique_ptr<BudgetTrial> trial;
  };

  Result<BudgetTrial*> trial_of(const SacRequest& request, SolveSettings settings);

  PolicyTrails trails_;
  std::deque<KnownBase> bases_;    // the last used first
  std::deque<KnownState> states_;  // the same
  KnownTrial trial_;
  StepStates steps_;
};

}  // namespace jointer::views
