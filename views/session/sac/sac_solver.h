#pragma once

// Computes the SAC states of a document: the last plan solved before a history entry, with all
// policies set since; for a flat training step, the step with its tags applied. Only one thread may
// use it at a time. sac_solver.cpp describes the algorithm.

#include <deque>
#include <optional>

#include "core/partition/pareto.h"
#include "views/session/edit/edit_history.h"
#include "views/session/sac/budget_trial.h"
#include "views/session/sac/ordered_plan.h"
#include "views/session/sac/policy_trail.h"
#include "views/session/sac/sac_state.h"
#include "views/session/sac/step_state.h"

namespace jointer::views {

// A requested policy that is not yet in the document.
struct PolicyChoice {
  std::vector<NodeId> nodes;
  std::optional<PlanAction> action;  // nullopt leaves the decision to the partitioner
};

struct SacRequest {
  SnapshotPtr now, baseline;
  EditHistory history;  // edits from `baseline` to `now`
  std::vector<PolicyChoice> choices;
};

class SacSolver {
 public:
  // Error (usage): no legal cut exists, nothing that the last choice requests is possible, or that
  // choice prevents the tags of a flat training step from being applied.
  Result<SacStatePtr> state(const SacRequest& request);
  // A quick version of `state`: the estimates and the curve are correct, but the tensors'
  // recomputation costs are still those in `shown`, unless `is_complete` is set.
  struct QuickState {
    SacStatePtr state;
    bool is_complete = false;
  };
  Result<QuickState> quick_state(const SacRequest& request, const SacState& shown);
  // Computes only the estimates and the curve.
  Result<PlanOutcomePtr> outcome(const SacRequest& request);
  // The memory that the caching allocator would reserve under the plan.
  Result<std::int64_t> reserved_bytes(const SacRequest& request);

  // The estimates in the order that a search found or, if there is none, in the plan's own order
  // and without reserved bytes.
  Result<OrderedFigures> ordered(const SacRequest& request);

  // Settings to solve with, or a plan to evaluate.
  struct PlanRequest {
    SolveSettings settings;
    // If set, a plan that a search found, which is evaluated as it is; the budget in `settings` is
    // ignored.
    std::optional<Fit> fit;
  };
  struct Trial {
    SolveSettings settings;
    PlanOutcomePtr outcome;
    std::optional<SavePlan> plan;  // for a flat training step: the plan for the budget
    // For a plan that a search found: evaluates it in other orders (BudgetTrial::ordered).
    std::shared_ptr<const BudgetTrial> trial;
  };
  Result<Trial> try_solving(const SacRequest& request, const PlanRequest& wanted);

 private:
  struct KnownBase {
    SnapshotPtr baseline;
    // The edits that change more than policies, then the last one that requests a plan, or null.
    EditHistory edits;
    SacBasePtr base;
  };
  struct KnownState {
    SacBasePtr base;
    std::vector<MemoryPolicy> policies;  // by node
    SacStatePtr state;
  };

  Result<SacBasePtr> base_of(const SacRequest& request);
  [[nodiscard]] SacStatePtr known_state(const SacBasePtr& base,
                                        const std::vector<MemoryPolicy>& policies);
  Result<SacStatePtr> state_of(const SacBasePtr& base, const std::vector<MemoryPolicy>& policies);
  [[nodiscard]] SacStatePtr with_deciders(const SacState& state, const SacRequest& request);
  // A state of which only the plan, the estimates and the curve are valid.
  Result<SacStatePtr> plan_state(const SacRequest& request);
  // A state without deciders.
  Result<SacStatePtr> state_of_step(const SacRequest& request);

  // The last trial, which is reused while the graph, the policies and the settings except for the
  // budget stay the same.
  struct KnownTrial {
    SacBasePtr base;  // of a joint graph
    SacStepPtr step;  // of a flat training step
    std::vector<MemoryPolicy> policies;
    SolveSettings settings;
    std::shared_ptr<BudgetTrial> trial;
  };

  // A plan that was found by a search and adopted.
  struct KnownSearch {
    SacBasePtr base;
    DoneEditPtr edit;
    std::vector<PlanAction> actions;  // by node; recompute if neither saved nor offloaded
  };
  struct KnownReserved {
    SacBasePtr base;
    SavePlan plan;
    std::int64_t bytes = 0;
  };
  // The policies of a search's plan, by node. `search`: the index of the edit that adopts the plan;
  // no later edit may request a plan. Null if the plan is not legal.
  const std::vector<PlanAction>* searched_actions(const SacRequest& request, const SacBasePtr& base,
                                                  std::size_t search);

  Result<BudgetTrial*> trial_of(const SacRequest& request, SolveSettings settings);
  Result<BudgetTrial*> trial_of_step(const SacRequest& request, SolveSettings settings);

  PolicyTrails trails_;
  std::deque<KnownBase> bases_;    // most recently used first
  std::deque<KnownState> states_;  // most recently used first
  KnownTrial trial_;
  KnownSearch search_;
  std::deque<KnownReserved> reserved_;  // newest first
  StepStates steps_;
};

}  // namespace jointer::views
