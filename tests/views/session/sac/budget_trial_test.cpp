// Tests that previews while dragging the budget equal the result of solving.

#include "views/session/sac/budget_trial.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/pass/pipeline_run.h"
#include "passes/built_in.h"
#include "passes/tune/find_order.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/sac/pareto_search.h"
#include "views/session/sac/sac_solver.h"

namespace jointer::views {
namespace {

class BudgetTrialTest : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<BudgetTrial> trial(const SolveSettings& settings = {}) const {
    auto made = BudgetTrial::make(snapshot_, policies_, settings);
    if (!made) ADD_FAILURE() << made.error().message;
    return made ? *std::move(made) : nullptr;
  }
  [[nodiscard]] SacStatePtr solved(const SolveSettings& settings) const {
    SacSolver solver;
    const auto done = std::make_shared<DoneEdit>(DoneEdit{solve_edit(settings), {}});
    auto made = solver.state({snapshot_, snapshot_, {done}, {}});
    if (!made) ADD_FAILURE() << made.error().message;
    return made ? *made : nullptr;
  }

  SnapshotPtr snapshot_ = test::snapshot_of(test::layered_joint(6));
  std::vector<MemoryPolicy> policies_ = policies_of(snapshot_->graph);
};

TEST_F(BudgetTrialTest, EqualsSolving) {
  for (const KnapsackSolver solver :
       {KnapsackSolver::dp, KnapsackSolver::greedy, KnapsackSolver::sliding_hirschberg,
        KnapsackSolver::knee_point}) {
    const auto trial = this->trial({.solver = solver});
    ASSERT_TRUE(trial);
    for (const double budget : {0.0, 0.2, 0.55, 1.0}) {
      const auto tried = trial->at(budget);
      ASSERT_TRUE(tried) << tried.error().message;
      const SacStatePtr state = solved({.activation_budget = budget, .solver = solver});
      ASSERT_TRUE(state);
      EXPECT_EQ((*tried)->figures, state->figures);
      EXPECT_EQ((*tried)->profile, state->profile);
      EXPECT_EQ((*tried)->places, state->places);
    }
  }
}

TEST_F(BudgetTrialTest, RespectsPoliciesUnlessIgnored) {
  const NodeId node = snapshot_->graph.find("act0");
  policies_[node.index()] = MemoryPolicy::must_save;
  const auto obeyed = trial(), ignored = trial({.ignore_tags = true});
  ASSERT_TRUE(obeyed && ignored);
  EXPECT_GT((*obeyed->at(1))->figures.saved_bytes, (*ignored->at(1))->figures.saved_bytes);
}

TEST_F(BudgetTrialTest, OtherPlansHaveTheirOutcome) {
  SacSolver solver;
  const SacRequest request{snapshot_, snapshot_, {}, {}};
  const SacStatePtr state = solver.state(request).value();
  const auto trade_off = ParetoSearch::trade_off_of(*state, {}, {}, Cancellation(), {}).value();
  const Fit fit = trade_off->fastest_within(state->figures.figures.peak_bytes / 20 * 19).value();
  ASSERT_TRUE(fit.fits);
  EXPECT_NE(fit.point.figures, state->figures);
  const auto tried = solver.try_solving(request, {.settings = {}, .fit = fit});
  ASSERT_TRUE(tried) << tried.error().message;
  EXPECT_EQ(tried->outcome->figures, fit.point.figures);
}

// Without passes, the outcome is that of the plan.
TEST_F(BudgetTrialTest, TheOwnOrderIsThatOfThePlan) {
  for (const bool is_step : {false, true}) {
    if (is_step) snapshot_ = test::snapshot_of("kind train_step\n" + test::layered_joint(6));
    policies_ = policies_of(snapshot_->graph);
    const auto trial = this->trial();
    ASSERT_TRUE(trial);
    for (const double budget : {0.2, 1.0}) {
      const SavePlan plan = trial->plan(budget).value();
      const auto own = trial->outcome(plan), ordered = trial->ordered(plan, "");
      ASSERT_TRUE(own && ordered);
      EXPECT_EQ((*ordered)->figures, (*own)->figures);
      EXPECT_EQ((*ordered)->profile, (*own)->profile);
      EXPECT_EQ((*ordered)->places, (*own)->places);
    }
  }
}

TEST_F(BudgetTrialTest, AnOrderHasTheOutcomeOfItsGraph) {
  const std::string passes = "reorder_for_peak_memory";
  const auto trial = this->trial();
  ASSERT_TRUE(trial);
  const SavePlan plan = trial->plan(0.2).value();
  const auto ordered = trial->ordered(plan, passes);
  ASSERT_TRUE(ordered) << ordered.error().message;
  const Partition solved = partition(snapshot_->graph).value();
  const AnalysisOptions& options = snapshot_->analysis.options;
  const Graph pair =
      in_order(emit_pair(solved.joint, plan).value(), passes, built_in_passes(), options).value();
  const MemoryTimeline memory(pair, options.memory);
  EXPECT_EQ((*ordered)->figures.figures, step_figures(pair, options)->figures);
  EXPECT_EQ((*ordered)->profile,
            std::vector<std::int64_t>(memory.profile().begin(), memory.profile().end()));
  // The other numbers are those of the plan.
  const PlanFigures own = (*trial->outcome(plan))->figures;
  EXPECT_EQ((*ordered)->figures.saved_bytes, own.saved_bytes);
  EXPECT_EQ((*ordered)->figures.recomputed, own.recomputed);
  // The curve has a place for each step.
  const std::vector<double>& places = (*ordered)->places;
  EXPECT_EQ(places.size(), memory.steps().size() + 1);
  EXPECT_TRUE(std::ranges::is_sorted(places));
  EXPECT_FALSE(trial->ordered(plan, "no_such_pass"));
}

TEST_F(BudgetTrialTest, OtherPartitionersHaveNoBudget) {
  SacSolver solver;
  const SolveSettings settings{.partitioner = Partitioner::default_partition};
  const auto other = solver.try_solving({snapshot_, snapshot_, {}, {}}, {.settings = settings});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->outcome->figures, solved(settings)->figures);
}

}  // namespace
}  // namespace jointer::views
