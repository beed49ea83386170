// Plans between two others, with made-up costs.

#include "core/partition/plan_mixing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace jointer::test {
namespace {

constexpr std::size_t kValues = 60;

std::int64_t count(std::span<const PlanAction> actions, PlanAction action) {
  return std::ranges::count(actions, action);
}

// A saved value takes 10 bytes, a recomputed one 5 ns. Up to 20 offloads are hidden; each further
// one takes 6 ns.
Figures figures_of(std::span<const PlanAction> actions) {
  const std::int64_t exposed = std::max<std::int64_t>(count(actions, PlanAction::offload) - 20, 0);
  Figures figures{};
  figures.peak_bytes = 10 * count(actions, PlanAction::save);
  figures.step_ns = 100 + 5 * count(actions, PlanAction::recompute) + 6 * exposed;
  return figures;
}

MixedPlan plan_of(PlanAction action) {
  MixedPlan plan{std::vector<PlanAction>(kValues, action), {}};
  plan.figures = figures_of(plan.actions);
  return plan;
}

std::optional<Figures> judged(std::span<const PlanAction> actions) {
  return figures_of(actions);
}

TEST(PlanMixing, UsesALimitToTheLastValue) {
  const MixedPlan recompute = plan_of(PlanAction::recompute), save = plan_of(PlanAction::save);
  for (const std::int64_t limit : {0, 9, 10, 255, 599}) {
    const MixedPlan found = mixed_within(recompute, save, PlanLimit::of_peak(limit), judged);
    EXPECT_EQ(found.figures, figures_of(found.actions));
    EXPECT_EQ(found.figures.peak_bytes, limit / 10 * 10);
    EXPECT_EQ(count(found.actions, PlanAction::save), limit / 10);
  }
}

// Fewer offloads leave values to recompute; more of them lengthen the step.
TEST(PlanMixing, BlendsUntilCopiesAreNoLongerHidden) {
  const MixedPlan recompute = plan_of(PlanAction::recompute),
                  offload = plan_of(PlanAction::offload);
  const PlanLimit limit = PlanLimit::of_peak(0);
  for (const auto& [a, b] : {std::pair(recompute, offload), std::pair(offload, recompute)}) {
    const MixedPlan found = blended(a, b, limit, judged);
    EXPECT_EQ(count(found.actions, PlanAction::offload), 20);
    EXPECT_EQ(found.figures.step_ns, 300);
    EXPECT_EQ(found.figures, figures_of(found.actions));
  }
}

TEST(PlanMixing, EqualPlansNeedNoEvaluation) {
  const auto fails = [](std::span<const PlanAction>) -> std::optional<Figures> {
    ADD_FAILURE() << "a plan is evaluated";
    return std::nullopt;
  };
  const MixedPlan save = plan_of(PlanAction::save);
  const PlanLimit limit = PlanLimit::of_peak(1000);
  EXPECT_EQ(mixed_within(save, save, limit, fails).actions, save.actions);
  EXPECT_EQ(blended(save, save, limit, fails).actions, save.actions);
}

// If no plan can be judged, such as after a cancellation, the better of the two is returned.
TEST(PlanMixing, ReturnsTheBetterPlanIfNoneIsJudged) {
  const auto none = [](std::span<const PlanAction>) { return std::optional<Figures>(); };
  const MixedPlan recompute = plan_of(PlanAction::recompute), save = plan_of(PlanAction::save);
  const PlanLimit tight = PlanLimit::of_peak(10), wide = PlanLimit::of_peak(1000);
  EXPECT_EQ(mixed_within(recompute, save, tight, none).actions, recompute.actions);
  EXPECT_EQ(blended(recompute, save, tight, none).actions, recompute.actions);
  EXPECT_EQ(blended(recompute, save, wide, none).actions, save.actions);
}

}  // namespace
}  // namespace jointer::test
