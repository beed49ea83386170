// The decisions of other solvers under the limit of a plan.

#include "core/partition/solver_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/partition/plan_margin_text.h"
#include "tests/support/judged_plan.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

std::unique_ptr<SolverComparison> compare(SolverComparison::Request request) {
  const Judged& judged = judged_sample();
  return SolverComparison::make(judged.partition.joint, *judged.what_if, std::move(request))
      .value();
}

SavePlan plan_at(double budget, KnapsackSolver solver) {
  return partition(judged_sample().partition.joint, {.activation_budget = budget, .solver = solver})
      ->plan;
}

// At the plan's own budget, the plan's own solver decides as the plan does.
TEST(SolverChoices, TorchsSolverAtThePlansBudgetIsThePlan) {
  const Judged& judged = judged_sample();
  for (const KnapsackSolver solver : {KnapsackSolver::dp, KnapsackSolver::greedy}) {
    const SavePlan plan = plan_at(0.5, solver);
    const auto solvers = compare({.plan = plan,
                                  .partition = {.solver = solver},
                                  .budget = 0.5,
                                  .policies = {},
                                  .is_cancelled = {}});
    const auto candidates = judged.what_if->candidates(plan).value();
    for (std::size_t i = 0; i < candidates.size(); i += 11) {
      const SaveCandidate& each = candidates[i];
      if (each.bytes == 0) continue;  // its memory is another value's
      const SolverChoices choices = solvers->of(each.node).value();
      const auto& own = solver == KnapsackSolver::dp ? choices.dp : choices.greedy;
      ASSERT_TRUE(own);
      EXPECT_EQ(own->action, each.action) << judged.partition.joint.name(each.node);
      EXPECT_EQ(own->budget, 0.5);
    }
  }
}

// Without a budget, torch's solvers stay within the plan's peak.
TEST(SolverChoices, OtherPlansAreComparedAtTheirPeak) {
  const Judged& judged = judged_sample();
  const SavePlan plan = plan_at(0.5, KnapsackSolver::dp);
  const auto solvers =
      compare({.plan = plan, .partition = {}, .budget = {}, .policies = {}, .is_cancelled = {}});
  const NodeId node = judged.what_if->candidates(plan)->front().node;
  const SolverChoices choices = solvers->of(node).value();
  ASSERT_TRUE(choices.dp && choices.greedy);
  const std::int64_t peak = judged.what_if->figures(plan)->figures.peak_bytes;
  EXPECT_GE(choices.dp->budget, 0.5);
  EXPECT_LE(
      judged.what_if->figures(plan_at(choices.dp->budget, KnapsackSolver::dp))->figures.peak_bytes,
      peak);
  EXPECT_LE(judged.what_if->figures(plan_at(choices.greedy->budget, KnapsackSolver::greedy))
                ->figures.peak_bytes,
            peak);
  EXPECT_FALSE(choices.other_budget);
}

// The peaks at which the relaxation's decision flips are on the right side of the plan's peak.
TEST(SolverChoices, TheRelaxationFlipsBeyondThePeak) {
  const Judged& judged = judged_sample();
  const auto relaxation = PlanRelaxation::make(*judged.what_if, {}).value();
  const auto solution =
      relaxation.solve({.byte_ns = relaxation.mean_byte_ns(), .copy = std::nullopt}).value();
  const SavePlan plan = relaxation.plan(solution.actions).value();
  const std::int64_t peak = judged.what_if->figures(plan)->figures.peak_bytes;
  const auto solvers =
      compare({.plan = plan, .partition = {}, .budget = {}, .policies = {}, .is_cancelled = {}});
  const auto candidates = judged.what_if->candidates(plan).value();
  std::size_t saved = 0, recomputed = 0;
  for (std::size_t i = 0; i < candidates.size(); i += 5) {
    const SolverChoices choices = solvers->of(candidates[i].node).value();
    if (!choices.relaxation || !choices.relaxation_peak_bytes) continue;
    if (*choices.relaxation == PlanAction::recompute) {
      ++recomputed;
      EXPECT_GE(*choices.relaxation_peak_bytes, peak);
    } else {
      ++saved;
      EXPECT_LE(*choices.relaxation_peak_bytes, peak);
    }
  }
  EXPECT_GT(saved, 0U);
  EXPECT_GT(recomputed, 0U);
}

// The nearest budget that decides differently does.
TEST(SolverChoices, TheNearestBudgetFlipsTheDecision) {
  const Judged& judged = judged_sample();
  const SavePlan plan = plan_at(0.5, KnapsackSolver::dp);
  const auto solvers =
      compare({.plan = plan, .partition = {}, .budget = 0.5, .policies = {}, .is_cancelled = {}});
  std::size_t found = 0;
  const auto candidates = judged.what_if->candidates(plan).value();
  for (const SaveCandidate& each : candidates) {
    if (each.action != PlanAction::save || found == 3) continue;
    const SolverChoices choices = solvers->of(each.node).value();
    if (!choices.other_budget) continue;
    ++found;
    EXPECT_LT(*choices.other_budget, 0.5);
    const SavePlan other = plan_at(*choices.other_budget, KnapsackSolver::dp);
    EXPECT_EQ(std::ranges::find(other.saved, each.node), other.saved.end());
    EXPECT_THAT(explain_choices(choices, 0.5).text,
                HasSubstr("decides differently at a budget of"));
  }
  EXPECT_GT(found, 0U);
}

TEST(SolverChoices, TheTextIsOneSentenceWithOrWithoutTheRelaxation) {
  SolverChoices choices;
  choices.dp = SolverChoices::Torch{.action = PlanAction::save, .budget = 0.5};
  EXPECT_EQ(explain_choices(choices, {}).text,
            "At this peak, torch's dp (budget 0.5) would save it, and no budget of torch's greedy "
            "fits.");
  EXPECT_EQ(explain_choices(choices, 0.5).text,
            "At a budget of 0.5, torch's dp would save it, and torch's greedy has no plan.");
  choices.relaxation = PlanAction::save;
  EXPECT_THAT(
      explain_choices(choices, 0.5).text,
      testing::StartsWith("At a budget of 0.5, torch's dp would save it, torch's greedy has "
                          "no plan, and the relaxation at the same peak would save it."));
}

TEST(SolverChoices, CanBeCancelled) {
  const Judged& judged = judged_sample();
  const auto solvers = SolverComparison::make(judged.partition.joint, *judged.what_if,
                                              {.plan = judged.partition.plan,
                                               .partition = {},
                                               .budget = {},
                                               .policies = {},
                                               .is_cancelled = [] { return true; }});
  ASSERT_FALSE(solvers);
  EXPECT_EQ(solvers.error().kind, Error::Kind::cancelled);
}

}  // namespace
}  // namespace jointer::test
