// Tests that previews while dragging the budget equal the result of solving.

#include "views/session/sac/budget_trial.h"

#include <gtest/gtest.h>

#include "core/open/open.h"
#include "tests/support/joints.h"
#include "tests/support/paths.h"
#include "tests/support/snapshots.h"
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

// A graph in which saved activations take most of the memory.
class BudgetOf8BTest : public BudgetTrialTest {
 protected:
  void SetUp() override {
    auto graph = open_graph(
        {.path = test::source_path("resources/samples/llama_8b_tp2_fsdp2.joint.json.zst")});
    ASSERT_TRUE(graph) << graph.error().message;
    auto made = make_snapshot(*std::move(graph), {});
    ASSERT_TRUE(made) << made.error().message;
    snapshot_ = *made;
    policies_ = policies_of(snapshot_->graph);
  }
};

TEST_F(BudgetOf8BTest, FindsTheLargestBudgetWhosePeakFits) {
  const auto trial = this->trial();
  ASSERT_TRUE(trial);
  const auto peak_at = [&](double budget) {
    return (*trial->at(budget))->figures.figures.peak_bytes;
  };
  const std::int64_t most = peak_at(1), limit = most * 7 / 10;
  // All recomputation happens at once, so the smallest budget does not have the smallest peak.
  ASSERT_GT(peak_at(0), most);
  const auto fit = trial->within(limit);
  ASSERT_TRUE(fit);
  EXPECT_TRUE(fit->fits);
  EXPECT_LE(peak_at(fit->budget), limit);
  EXPECT_GT(peak_at(fit->budget + 1.0 / BudgetTrial::kParts), limit);
  EXPECT_EQ(trial->within(most)->budget, 1);
  const auto none = trial->within(1);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->fits);
  EXPECT_LT(peak_at(none->budget), limit);
}

TEST_F(BudgetTrialTest, RespectsPoliciesUnlessIgnored) {
  const NodeId node = snapshot_->graph.find("act0");
  policies_[node.index()] = MemoryPolicy::must_save;
  const auto obeyed = trial(), ignored = trial({.ignore_tags = true});
  ASSERT_TRUE(obeyed && ignored);
  EXPECT_GT((*obeyed->at(1))->figures.saved_bytes, (*ignored->at(1))->figures.saved_bytes);
}

TEST_F(BudgetOf8BTest, WorksWithEverySolver) {
  SacSolver solver;
  const SacRequest request{snapshot_, snapshot_, {}, {}};
  const auto whole = solver.try_solving(request, {.settings = {}, .max_peak = {}});
  ASSERT_TRUE(whole);
  const std::int64_t peak = whole->outcome->figures.figures.peak_bytes;
  const auto smaller = solver.try_solving(request, {.settings = {}, .max_peak = peak - 1});
  ASSERT_TRUE(smaller);
  EXPECT_TRUE(smaller->fits);
  EXPECT_LT(smaller->settings.activation_budget, 1);
  EXPECT_LT(smaller->outcome->figures.figures.peak_bytes, peak);
  const auto other = solver.try_solving(
      request, {.settings = {.partitioner = Partitioner::default_partition}, .max_peak = {}});
  ASSERT_TRUE(other);
  EXPECT_EQ(other->outcome->figures,
            solved({.partitioner = Partitioner::default_partition})->figures);
}

}  // namespace
}  // namespace jointer::views
