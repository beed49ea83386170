// The Pareto curve and the search for a limit, on random joint graphs and a sample.

#include "core/partition/pareto.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <random>

#include "core/partition/budget_sweep.h"
#include "core/schedule/caching_allocator.h"
#include "tests/support/judged_plan.h"
#include "tests/support/must.h"
#include "tests/support/random_graph.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

Result<std::vector<ParetoPoint>> points_of(const Graph& joint, const PlanWhatIf& what_if,
                                           const ParetoRequest& request) {
  return pareto(joint, what_if, request).map([](ParetoCurve&& curve) {
    return std::move(curve.points);
  });
}

// Few plans for each limit.
const ParetoRequest kQuick{.effort = 40};

bool is_curve(const std::vector<ParetoPoint>& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Figures& a = points[i - 1].figures.figures;
    const Figures& b = points[i].figures.figures;
    if (a.peak_bytes >= b.peak_bytes || a.step_ns <= b.step_ns) return false;
  }
  return true;
}

bool same(const std::vector<ParetoPoint>& a, const std::vector<ParetoPoint>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ParetoPoint& x, const ParetoPoint& y) {
                      return x.budget == y.budget && x.name == y.name && x.plan == y.plan &&
                             x.figures == y.figures;
                    });
}

RC_GTEST_PROP(ParetoProperty, TheCurveIsMonotoneAndDeterministic, (std::uint64_t seed)) {
  const auto judged = judge(random_graph(seed, {.calls = 40, .gradients = true, .writes = false}));
  RC_PRE(static_cast<bool>(judged));
  const ParetoRequest request{.partition = {}, .given = {}, .max_budgets = 12, .effort = 60};
  const auto points = points_of(judged->partition.joint, *judged->what_if, request);
  RC_PRE(points.has_value());
  RC_ASSERT(!points->empty());
  RC_ASSERT(is_curve(*points));
  for (const ParetoPoint& point : *points)
    RC_ASSERT(judged->what_if->figures(point.plan).value() == point.figures);
  RC_ASSERT(same(*points, points_of(judged->partition.joint, *judged->what_if, request).value()));
}

// A plan that is reported to fit does fit by a fresh evaluation, and is no worse than that of a
// budget.
RC_GTEST_PROP(ParetoProperty, PlansThatFitAreWithinTheLimit, (std::uint64_t seed)) {
  const auto judged = judge(random_graph(seed, {.calls = 40, .gradients = true, .writes = false}));
  RC_PRE(static_cast<bool>(judged));
  const Graph& joint = judged->partition.joint;
  const ParetoRequest request{.partition = {}, .given = {}, .max_budgets = 8, .effort = 60};
  const auto sweep = BudgetSweep::make(joint, *judged->what_if, request);
  RC_PRE(sweep.has_value());
  RC_PRE((*sweep)->run().has_value());
  const PlanFigures whole = judged->what_if->figures(judged->partition.plan).value();
  const auto percent = *rc::gen::inRange<std::int64_t>(30, 130);
  const std::int64_t peak = whole.figures.peak_bytes * percent / 100;
  const std::int64_t step = whole.figures.step_ns * percent / 100;

  const Fit fast = fastest_within(joint, *judged->what_if, peak, request).value();
  RC_ASSERT(judged->what_if->figures(fast.point.plan).value() == fast.point.figures);
  RC_ASSERT(fast.fits == (fast.point.figures.figures.peak_bytes <= peak));
  const Fit small = smallest_within(joint, *judged->what_if, step, request).value();
  RC_ASSERT(judged->what_if->figures(small.point.plan).value() == small.point.figures);
  RC_ASSERT(small.fits == (small.point.figures.figures.step_ns <= step));
  for (const ParetoPoint& point : (*sweep)->points()) {
    const Figures& f = point.figures.figures;
    if (f.peak_bytes <= peak)
      RC_ASSERT(fast.fits && fast.point.figures.figures.step_ns <= f.step_ns);
    if (f.step_ns <= step)
      RC_ASSERT(small.fits && small.point.figures.figures.peak_bytes <= f.peak_bytes);
  }
}

// True if the point is at least as good as these numbers.
bool reaches(const ParetoPoint& point, const Figures& other) {
  const Figures& own = point.figures.figures;
  return own.peak_bytes <= other.peak_bytes && own.step_ns <= other.step_ns;
}

// Every given plan and every budget is on the curve, or a point of the curve is better.
RC_GTEST_PROP(ParetoProperty, TheCurveReachesGivenPlansAndBudgets, (std::uint64_t seed)) {
  const auto judged = judge(random_graph(seed, {.calls = 40, .gradients = true, .writes = false}));
  RC_PRE(static_cast<bool>(judged));
  const PlanWhatIf& what_if = *judged->what_if;
  std::mt19937_64 chance(seed);
  ParetoRequest request{.partition = {}, .given = {}, .max_budgets = 6, .effort = 60};
  SavePlan plan = judged->partition.plan;
  for (int i = 0; i < 6; ++i) {
    const auto candidates = what_if.candidates(plan);
    RC_PRE(candidates.has_value() && !candidates->empty());
    const NodeId node = (*candidates)[chance() % candidates->size()].node;
    const auto change = what_if.change_all(plan, {&node, 1}, static_cast<PlanAction>(chance() % 3));
    if (!change) continue;
    plan = change->plan;
    request.given.push_back({.budget = -1, .name = fmt::format("snapshot {}", i), .plan = plan});
  }
  const auto points = points_of(judged->partition.joint, what_if, request);
  RC_PRE(points.has_value());
  RC_ASSERT(is_curve(*points));
  const auto sweep = BudgetSweep::make(judged->partition.joint, what_if, request).value();
  RC_ASSERT(sweep->run().has_value());
  for (const ParetoPoint& each : sweep->points())
    RC_ASSERT(std::any_of(points->begin(), points->end(), [&](const ParetoPoint& point) {
      return reaches(point, each.figures.figures);
    }));
}

// An offloaded value is better than any budget's plan if compute hides the copies.
TEST(Pareto, TheCurveReachesPlansWithOneOffloadedValue) {
  const Judged& judged = judged_sample();
  const auto candidates = judged.what_if->candidates(judged.partition.plan).value();
  const auto points = points_of(judged.partition.joint, *judged.what_if, kQuick).value();
  EXPECT_TRUE(is_curve(points));
  std::size_t tried = 0;
  for (const SaveCandidate& each : candidates) {
    if (each.action != PlanAction::save) continue;
    const auto change =
        judged.what_if->change_all(judged.partition.plan, {&each.node, 1}, PlanAction::offload);
    if (!change) continue;
    ++tried;
    const Figures f = judged.what_if->figures(change->plan).value().figures;
    EXPECT_TRUE(std::any_of(points.begin(), points.end(), [&](const ParetoPoint& point) {
      return reaches(point, f);
    })) << judged.partition.joint.name(each.node);
  }
  EXPECT_GT(tried, 0U);
}

TEST(Pareto, ReturnsThePointsFoundSoFarIfCancelled) {
  const Judged& judged = judged_sample();
  for (const int asked : {1, 3, 12, 40}) {
    int count = 0;
    double last = 0;
    ParetoRequest request = kQuick;
    request.partition.watcher = {.report =
                                     [&](double done) {
                                       EXPECT_GE(done, last);
                                       EXPECT_LE(done, 1);
                                       last = done;
                                     },
                                 .is_cancelled = [&] { return ++count >= asked; }};
    const auto points = points_of(judged.partition.joint, *judged.what_if, request);
    EXPECT_LE(count, asked + 2) << "it continues after the cancellation";
    if (points)
      EXPECT_TRUE(is_curve(*points));
    else
      EXPECT_EQ(points.error().kind, Error::Kind::cancelled);
  }
}

TEST(Pareto, ASampleHasACurveWithGivenPoints) {
  const Judged& judged = judged_sample();
  const Graph& joint = judged.partition.joint;
  ParetoRequest request = kQuick;
  request.given.push_back({.budget = -1, .name = "as it is", .plan = judged.partition.plan});
  const auto points = must(points_of(joint, *judged.what_if, request));
  EXPECT_GT(points.size(), 3U);
  EXPECT_TRUE(is_curve(points));
  const Figures given = judged.what_if->figures(judged.partition.plan)->figures;
  EXPECT_TRUE(std::any_of(points.begin(), points.end(),
                          [&](const ParetoPoint& point) { return reaches(point, given); }));
}

TEST(Pareto, NothingIsOffloadedIfThatIsExcluded) {
  const Judged& judged = judged_sample();
  const ParetoRequest request{.offload = false, .effort = 200};
  const auto points = points_of(judged.partition.joint, *judged.what_if, request).value();
  for (const ParetoPoint& point : points) EXPECT_TRUE(point.plan.offloaded.empty());
}

// Nor does a search without offloading start from a plan that offloads.
TEST(Pareto, AGivenPlanThatOffloadsIsNoAnswerIfThatIsExcluded) {
  std::size_t tried = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto judged =
        judge(random_graph(seed, {.calls = 40, .gradients = true, .writes = false}));
    if (!judged) continue;
    const PlanWhatIf& what_if = *judged->what_if;
    Graph joint = judged->partition.joint;
    ParetoRequest request{.max_budgets = 4, .effort = 60};
    const auto smallest = fastest_within(joint, what_if, 0, request);
    if (!smallest || offloads_only_on_demand(smallest->point.plan, joint, {})) continue;
    ++tried;
    const ParetoPoint given = smallest->point;
    const std::int64_t peak = figures_of(given).peak_bytes;
    request.given = {given};
    request.offload = false;
    const Fit without = must(fastest_within(joint, what_if, peak, request));
    EXPECT_TRUE(offloads_only_on_demand(without.point.plan, joint, {})) << seed;

    // The user's policies may still demand offloads, and so may tags of the graph.
    request.policies.resize(joint.node_count());
    for (const NodeId id : given.plan.offloaded)
      request.policies[id.index()] = MemoryPolicy::must_cpu_offload;
    const Fit demanded = must(fastest_within(joint, what_if, peak, request));
    EXPECT_TRUE(demanded.fits) << seed;
    request.policies.clear();
    for (const NodeId id : given.plan.offloaded)
      joint.node(id).policy = MemoryPolicy::must_cpu_offload;
    const Fit of_tags = must(fastest_within(joint, what_if, peak, request));
    EXPECT_TRUE(of_tags.fits) << seed;
    EXPECT_LE(figures_of(of_tags.point).step_ns, figures_of(given).step_ns) << seed;
  }
  EXPECT_GT(tried, 3U);
}

TEST(Pareto, OffloadsOnDemandAreThoseOfTagsAndPolicies) {
  Graph joint = judged_sample().partition.joint;
  const NodeId first = joint.order()[0], second = joint.order()[1];
  for (const NodeId id : {first, second}) joint.node(id).policy = MemoryPolicy::none;
  SavePlan plan;
  EXPECT_TRUE(offloads_only_on_demand(plan, joint, {}));
  plan.offloaded = {first, second};
  EXPECT_FALSE(offloads_only_on_demand(plan, joint, {}));
  joint.node(first).policy = MemoryPolicy::must_cpu_offload;
  EXPECT_FALSE(offloads_only_on_demand(plan, joint, {}));
  std::vector<MemoryPolicy> policies(joint.node_count(), MemoryPolicy::none);
  policies[second.index()] = MemoryPolicy::must_cpu_offload;
  EXPECT_TRUE(offloads_only_on_demand(plan, joint, policies));
}

// Between two budgets there are plans that no budget yields.
TEST(Pareto, ALimitIsUsedBetterThanByAnyBudget) {
  JOINTER_SLOW_TEST();
  const Judged& judged = judged_sample();
  const Graph& joint = judged.partition.joint;
  const ParetoRequest request = kQuick;
  const auto sweep = BudgetSweep::make(joint, *judged.what_if, request).value();
  ASSERT_TRUE(sweep->run());
  const std::vector<ParetoPoint> budgets = pareto_front(sweep->points());
  std::size_t better = 0;
  for (std::size_t i = 1; i < budgets.size(); i += 3) {
    const Figures& small = budgets[i - 1].figures.figures;
    const Figures& large = budgets[i].figures.figures;
    const std::int64_t limit = (small.peak_bytes + large.peak_bytes) / 2;
    const Fit fit = fastest_within(joint, *judged.what_if, limit, request).value();
    ASSERT_TRUE(fit.fits);
    EXPECT_LE(fit.point.figures.figures.peak_bytes, limit);
    EXPECT_LE(fit.point.figures.figures.step_ns, small.step_ns);
    EXPECT_LE(fit.point.bound_ns, fit.point.figures.figures.step_ns);
    better += fit.point.figures.figures.step_ns < small.step_ns ? 1 : 0;
  }
  EXPECT_GT(better, 0U);
}

// Each limit is a separate search; a higher one never gives a slower plan.
TEST(Pareto, AHigherLimitIsNeverSlower) {
  JOINTER_SLOW_TEST();
  const Judged& judged = judged_sample();
  const Graph& joint = judged.partition.joint;
  const std::int64_t low =
      fastest_within(joint, *judged.what_if, 0, {})->point.figures.figures.peak_bytes;
  const std::int64_t high = judged.what_if->figures(judged.partition.plan)->figures.peak_bytes;
  ASSERT_LT(low, high);
  std::int64_t step = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i <= 3; ++i) {
    const Fit fit = fastest_within(joint, *judged.what_if, low + (high - low) * i / 3, {}).value();
    EXPECT_TRUE(fit.fits);
    EXPECT_LE(fit.point.figures.figures.step_ns, step) << i;
    EXPECT_LE(fit.bound_ns, fit.point.figures.figures.step_ns);
    step = fit.point.figures.figures.step_ns;
  }
}

// A limit of reserved memory holds for the pair.
TEST(Pareto, ALimitOfReservedMemoryHolds) {
  JOINTER_SLOW_TEST();
  const Judged& judged = judged_sample();
  const Graph& joint = judged.partition.joint;
  const auto reserved_of = [&](const ParetoPoint& point) {
    const MemoryTimeline memory(emit_pair(joint, point.plan).value());
    return simulate_reserved(memory, memory.device()).peak_bytes;
  };
  ParetoRequest request = kQuick;
  request.memory = LimitedMemory::reserved;
  const Fit smallest = fastest_within(joint, *judged.what_if, 0, request).value();
  EXPECT_FALSE(smallest.fits);
  EXPECT_EQ(smallest.point.reserved_bytes, reserved_of(smallest.point));
  const std::int64_t min = *smallest.point.reserved_bytes;
  for (const int percent : {105, 120}) {
    const std::int64_t limit = min * percent / 100;
    const Fit fit = fastest_within(joint, *judged.what_if, limit, request).value();
    EXPECT_TRUE(fit.fits);
    EXPECT_EQ(fit.point.reserved_bytes, reserved_of(fit.point));
    EXPECT_LE(fit.point.reserved_bytes, limit);
  }
}

TEST(Pareto, TheNearestPlanIsReturnedIfNothingFits) {
  JOINTER_SLOW_TEST();
  const Judged& judged = judged_sample();
  const Fit fit = fastest_within(judged.partition.joint, *judged.what_if, 1, kQuick).value();
  EXPECT_FALSE(fit.fits);
  const auto points = points_of(judged.partition.joint, *judged.what_if, kQuick).value();
  for (const ParetoPoint& point : points)
    EXPECT_LE(fit.point.figures.figures.peak_bytes, point.figures.figures.peak_bytes);
}

TEST(Pareto, CanBeCancelled) {
  const Judged& judged = judged_sample();
  std::size_t found = 0;
  ParetoRequest request = kQuick;
  request.found = [&](const ParetoPoint&) { return ++found < 3; };
  const auto points = must(points_of(judged.partition.joint, *judged.what_if, request));
  EXPECT_EQ(found, 3U);
  EXPECT_LE(points.size(), 3U);
  EXPECT_TRUE(is_curve(points));
  found = 0;
  const auto fit = fastest_within(judged.partition.joint, *judged.what_if, 1, request);
  ASSERT_TRUE(fit.has_value());
  EXPECT_LE(found, 5U);
}

TEST(Pareto, RefusesOtherGraphs) {
  const Judged& judged = judged_sample();
  const auto pair = must(emit_pair(judged.partition.joint, judged.partition.plan));
  const auto refused = points_of(pair, *judged.what_if, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("pair"), std::string::npos);
}

}  // namespace
}  // namespace jointer::test
