// The relaxation and its bound, on random joint graphs and a sample.

#include "core/partition/plan_relaxation.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/partition/plan_frontier.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "tests/support/judged_plan.h"
#include "tests/support/must.h"
#include "tests/support/one_core.h"
#include "tests/support/random_graph.h"
#include "tests/support/slow.h"

namespace jointer::test {
namespace {

constexpr double kRounding = 1e-2;  // capacities are rounded to 1/1024 ns

std::vector<PlanAction> random_actions(std::size_t count, std::mt19937_64& chance) {
  std::vector<PlanAction> actions(count);
  const auto bias = chance() % 4;
  for (PlanAction& each : actions)
    each = chance() % 4 < bias ? PlanAction::recompute : static_cast<PlanAction>(chance() % 3);
  return actions;
}

// No plan, however it was made, is faster than the bound for its peak.
RC_GTEST_PROP(PlanRelaxationProperty, NoPlanIsBelowTheBound, (std::uint64_t seed)) {
  const auto judged = judge(random_graph(seed, {.calls = 40, .gradients = true, .writes = false}));
  RC_PRE(static_cast<bool>(judged));
  const PlanWhatIf& what_if = *judged->what_if;
  const bool offload = seed % 2 == 0;
  const auto frontier = PlanFrontier::make(judged->partition.joint, what_if,
                                           {.policies = {}, .offload = offload, .effort = 20});
  RC_PRE(frontier.has_value());
  const auto smallest = (*frontier)->best(PlanLimit::of_peak(0));
  RC_PRE(smallest.has_value());
  // The bound also has prices at the moments of these peaks.
  for (const std::int64_t percent : {110, 140})
    RC_PRE((*frontier)
               ->best(PlanLimit::of_peak(smallest->figures.figures.peak_bytes * percent / 100))
               .has_value());
  const auto relaxation = PlanRelaxation::make(what_if, {}).value();
  std::mt19937_64 chance(seed);
  for (int i = 0; i < 40; ++i) {
    std::vector<PlanAction> actions = random_actions(relaxation.values().size(), chance);
    if (!offload)
      std::replace(actions.begin(), actions.end(), PlanAction::offload, PlanAction::save);
    const auto plan = relaxation.plan(actions);
    if (!plan) continue;
    const Figures f = what_if.figures(*plan).value().figures;
    RC_ASSERT((*frontier)->bound_ns(f.peak_bytes) <= f.step_ns);
  }
  for (const EvaluatedPlan& plan : (*frontier)->points())
    RC_ASSERT((*frontier)->bound_ns(plan.figures.figures.peak_bytes) <=
              plan.figures.figures.step_ns);
}

// The cost rises with the price of bytes, and falls if values may be offloaded.
RC_GTEST_PROP(PlanRelaxationProperty, TheCostRisesWithThePrices, (std::uint64_t seed)) {
  const auto judged = judge(random_graph(seed, {.calls = 40, .gradients = true, .writes = false}));
  RC_PRE(static_cast<bool>(judged));
  const auto relaxation = PlanRelaxation::make(*judged->what_if, {});
  RC_PRE(relaxation.has_value());
  const double mean = relaxation->mean_byte_ns();
  double cost = -1;
  for (const double factor : {0.0, 0.1, 0.5, 1.0, 2.0, 10.0}) {
    const auto solution = relaxation->solve({.byte_ns = factor * mean, .copy = std::nullopt});
    RC_PRE(solution.has_value());
    RC_ASSERT(solution->cost_ns >= cost - kRounding * cost);
    cost = solution->cost_ns;
    const auto free = relaxation->solve({.byte_ns = factor * mean, .copy = 0.5}).value();
    RC_ASSERT(free.cost_ns <= solution->cost_ns * (1 + kRounding) + 1);
  }
}

// The user's tags are constraints; those that the partitioner adds are not.
TEST(PlanRelaxation, HonorsPolicies) {
  const Judged& judged = judged_sample();
  const Graph& joint = judged.partition.joint;
  const auto free = PlanRelaxation::make(*judged.what_if, {}).value();
  const PlanPrices expensive{.byte_ns = 1e6, .copy = std::nullopt};
  const PlanPrices cheap{.byte_ns = 0, .copy = std::nullopt};
  const auto recomputing = free.solve(expensive).value();
  const auto saving = free.solve(cheap).value();
  std::size_t tried = 0;
  int offloaded = 0;  // would be, without a tag
  for (std::size_t i = 0; i < free.values().size() && tried < 8; ++i) {
    if (recomputing.actions[i] != PlanAction::recompute || saving.actions[i] != PlanAction::save)
      continue;
    ++tried;
    std::vector<MemoryPolicy> policies(joint.node_count(), MemoryPolicy::none);
    const NodeId node = free.values()[i];
    policies[node.index()] = MemoryPolicy::must_save;
    const auto saved = PlanRelaxation::make(*judged.what_if, policies)->solve(expensive);
    ASSERT_TRUE(saved) << joint.name(node);
    EXPECT_NE(saved->actions[i], PlanAction::recompute) << joint.name(node);
    const auto kept =
        PlanRelaxation::make(*judged.what_if, policies)->solve({.byte_ns = 1e6, .copy = 1e-3});
    ASSERT_TRUE(kept) << joint.name(node);
    EXPECT_EQ(kept->actions[i], PlanAction::save) << joint.name(node);
    offloaded += free.solve({.byte_ns = 1e6, .copy = 1e-3})->actions[i] == PlanAction::offload;
    policies[node.index()] = MemoryPolicy::must_recompute;
    const auto tagged = PlanRelaxation::make(*judged.what_if, policies)->solve(cheap);
    ASSERT_TRUE(tagged) << joint.name(node);
    EXPECT_EQ(tagged->actions[i], PlanAction::recompute) << joint.name(node);
  }
  EXPECT_GT(tried, 0U);
  EXPECT_GT(offloaded, 0);
}

// A view and the value that it views have one storage. It is saved if either must be saved.
TEST(PlanRelaxation, AStorageMayHaveDifferentPolicies) {
  const auto judged = judge(parse(R"(
    device cuda
    x: f32[1024,1024] = input
    dy: f32[1024,1024] = tangent
    a: f32[1024,1024] = aten.sin(x)
    t: f32[1024,1024] = aten.t(a)
    y: f32[1024,1024] = aten.mm(t, x)
    g: f32[1024,1024] = aten.mul.Tensor(dy, t) {backward}
    return [y, g]
  )"));
  ASSERT_TRUE(judged);
  const Graph& joint = judged->partition.joint;
  std::vector<MemoryPolicy> policies(joint.node_count(), MemoryPolicy::none);
  policies[joint.find("a").index()] = MemoryPolicy::must_recompute;
  policies[joint.find("t").index()] = MemoryPolicy::must_save;
  const auto relaxation = must(PlanRelaxation::make(*judged->what_if, policies));
  const auto solution = must(relaxation.solve({.byte_ns = 1e6, .copy = std::nullopt}));
  EXPECT_EQ(must(relaxation.plan(solution.actions)).saved, std::vector{joint.find("t")});
}

// A plan may recompute random calls, so the bound and the solutions allow for it.
TEST(PlanRelaxation, RandomCallsMayBeRecomputed) {
  std::string forward = "y0: f32[1048576] = aten.sin(x)\n", backward;
  constexpr int kCount = 8;
  for (int i = 1; i <= kCount; ++i) {
    forward += fmt::format("r{0}: f32[1048576] = aten.bernoulli(x)\n", i);
    forward += fmt::format("y{0}: f32[1048576] = aten.mul.Tensor(y{1}, r{0})\n", i, i - 1);
    const int n = kCount + 1 - i;
    backward += fmt::format("g{}: f32[1048576] = aten.mul.Tensor({}, r{})  {{backward}}\n", n,
                            i == 1 ? "dy" : fmt::format("g{}", n + 1), n);
  }
  const auto judged = judge(
      parse(fmt::format("device cuda\nx: f32[1048576] = input\ndy: f32[1048576] = tangent\n{}{}"
                        "return [y{}, g1]\n",
                        forward, backward, kCount)));
  ASSERT_TRUE(judged);
  const Graph& joint = judged->partition.joint;
  std::vector<NodeId> random;
  for (int i = 1; i <= kCount; ++i) random.push_back(joint.find(fmt::format("r{}", i)));
  const SavePlan& saving = judged->partition.plan;
  const SavePlan redrawing = must(judged->what_if->change(saving, random, PlanAction::recompute));
  ASSERT_EQ(redrawing.redrawn.size(), random.size());
  const Figures figures = must(judged->what_if->figures(redrawing)).figures;
  ASSERT_LT(figures.peak_bytes, must(judged->what_if->figures(saving)).figures.peak_bytes);

  const auto relaxation = must(PlanRelaxation::make(*judged->what_if, {}));
  std::vector<PlanRelaxation::Solved> solved;
  for (const PlanPrices& prices : relaxation.series(/*offload=*/false))
    solved.push_back({prices, must(relaxation.solve(prices)).cost_ns});
  EXPECT_LE(relaxation.bound_ns(solved, figures.peak_bytes), figures.step_ns);
  const auto smallest = must(relaxation.solve({.byte_ns = 1e6, .copy = std::nullopt}));
  EXPECT_EQ(must(relaxation.plan(smallest.actions)).redrawn.size(), random.size());

  // Nothing is cheaper than saving, but a policy requires one of them to be recomputed.
  std::vector<MemoryPolicy> policies(joint.node_count(), MemoryPolicy::none);
  policies[random.front().index()] = MemoryPolicy::must_recompute;
  const auto tagged = must(PlanRelaxation::make(*judged->what_if, policies));
  const auto cheapest = must(tagged.solve({.byte_ns = 0, .copy = std::nullopt}));
  EXPECT_EQ(must(tagged.plan(cheapest.actions)).redrawn, std::vector{random.front()});
}

// A frontier's answers are within the limit, never below the bound, and faster with more room.
TEST(PlanFrontier, IsMonotoneAndAboveItsBound) {
  const Judged& judged = judged_sample();
  const auto frontier =
      PlanFrontier::make(judged.partition.joint, *judged.what_if, {.policies = {}, .effort = 300})
          .value();
  const Figures smallest = frontier->best(PlanLimit::of_peak(0))->figures.figures;
  const Figures fastest = frontier->best(PlanLimit::of_step(0))->figures.figures;
  ASSERT_LT(smallest.peak_bytes, fastest.peak_bytes);
  std::int64_t step = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i <= 5; ++i) {
    const std::int64_t limit =
        smallest.peak_bytes + (fastest.peak_bytes - smallest.peak_bytes) * i / 5;
    const Figures f = frontier->best(PlanLimit::of_peak(limit))->figures.figures;
    EXPECT_LE(f.peak_bytes, limit);
    EXPECT_GE(f.step_ns, frontier->bound_ns(limit));
    EXPECT_LE(f.step_ns, step);
    step = f.step_ns;
  }
  std::int64_t peak = 0;
  for (const EvaluatedPlan& plan : frontier->points()) {
    EXPECT_GT(plan.figures.figures.peak_bytes, peak);
    peak = plan.figures.figures.peak_bytes;
    EXPECT_EQ(judged.what_if->figures(plan.plan).value(), plan.figures);
  }
}

// Samples and brackets are evaluated on several threads.
TEST(PlanFrontier, DoesNotDependOnTheNumberOfThreads) {
  const Judged& judged = judged_sample();
  struct Answer {
    std::vector<SavePlan> plans;
    std::vector<PlanFigures> figures;
    std::vector<std::int64_t> bounds;
    bool operator==(const Answer&) const = default;
  };
  const std::int64_t peak = judged.what_if->figures(judged.partition.plan)->figures.peak_bytes;
  const auto search = [&] {
    Answer answer;
    const auto frontier =
        PlanFrontier::make(judged.partition.joint, *judged.what_if, {.policies = {}, .effort = 60})
            .value();
    const auto add = [&](const EvaluatedPlan& plan) {
      answer.plans.push_back(plan.plan);
      answer.figures.push_back(plan.figures);
      answer.bounds.push_back(frontier->bound_ns(plan.figures.figures.peak_bytes));
    };
    const auto add_points = [&] {
      for (const EvaluatedPlan& plan : frontier->points()) add(plan);
    };
    EXPECT_TRUE(frontier->find_samples());
    add_points();
    for (const std::int64_t percent : {60, 90})
      add(frontier->best(PlanLimit::of_peak(peak * percent / 100)).value());
    add_points();
    return answer;
  };
  Answer alone;
  if (!run_on_one_core([&] { alone = search(); })) GTEST_SKIP() << "cannot set the affinity";
  EXPECT_GT(alone.plans.size(), 4U);
  EXPECT_TRUE(alone == search());
}

TEST(PlanFrontier, ACancelledSearchUsesWhatItHasFound) {
  const Judged& judged = judged_sample();
  for (const int end : {0, 30}) {
    int asked = 0;
    const auto frontier =
        PlanFrontier::make(judged.partition.joint, *judged.what_if,
                           {.policies = {}, .go_on = [&] { return ++asked <= end; }})
            .value();
    ASSERT_TRUE(frontier->find_samples());
    const std::size_t found = frontier->points().size();
    const auto best = frontier->best(PlanLimit::of_peak(0));
    EXPECT_EQ(asked, end + 1) << "it continues after the cancellation";
    EXPECT_EQ(frontier->points().size(), found);
    if (end == 0) {
      EXPECT_EQ(found, 0U);
      ASSERT_FALSE(best);
      EXPECT_EQ(best.error().kind, Error::Kind::cancelled);
      continue;
    }
    EXPECT_GT(found, 1U);
    ASSERT_TRUE(best);
    EXPECT_EQ(best->plan, frontier->points().front().plan);
  }
}

// The backward reads an input after the copy that overwrites it, whatever is saved.
TEST(PlanFrontier, AGraphWithoutALegalPlanIsRefused) {
  Graph joint = parse(kReadByTheBackward);
  joint.node(joint.find("update")).partitioner_tag = joint.intern("must_be_in_forward");
  const std::vector<NodeCost> costs(joint.node_count());
  const std::vector<Flops> flops(joint.node_count());
  const PlanWhatIf what_if(joint, costs, flops);
  const auto frontier = PlanFrontier::make(joint, what_if, {});
  ASSERT_FALSE(frontier);
  EXPECT_EQ(frontier.error().kind, Error::Kind::usage);
}

// Whatever single decision is changed, the plan within the limit is not faster.
TEST(PlanFrontier, NoSingleChangeIsBetter) {
  JOINTER_SLOW_TEST();
  const Judged& judged = judged_sample();
  const PlanWhatIf& what_if = *judged.what_if;
  const auto frontier = PlanFrontier::make(judged.partition.joint, what_if, {}).value();
  const Figures smallest = frontier->best(PlanLimit::of_peak(0))->figures.figures;
  const Figures fastest = frontier->best(PlanLimit::of_step(0))->figures.figures;
  std::size_t tried = 0;
  for (const int part : {1, 2, 3}) {
    const std::int64_t limit =
        smallest.peak_bytes + (fastest.peak_bytes - smallest.peak_bytes) * part / 4;
    const EvaluatedPlan best = frontier->best(PlanLimit::of_peak(limit)).value();
    const std::vector<SaveCandidate> candidates = what_if.candidates(best.plan).value();
    for (const SaveCandidate& each : candidates)
      for (const PlanAction action :
           {PlanAction::recompute, PlanAction::save, PlanAction::offload}) {
        const auto plan = what_if.change(best.plan, {&each.node, 1}, action);
        if (!plan) continue;
        ++tried;
        const Figures f = what_if.figures(*plan)->figures;
        EXPECT_TRUE(f.peak_bytes > limit || f.step_ns >= best.figures.figures.step_ns)
            << judged.partition.joint.name(each.node) << " " << to_string(action);
      }
  }
  EXPECT_GT(tried, 100U);
}

// The quick numbers agree with the complete ones.
RC_GTEST_PROP(PlanWhatIfProperty, BoundedFiguresAreThoseOfThePlan, (std::uint64_t seed)) {
  const auto judged = judge(random_graph(seed, {.calls = 40, .gradients = true, .writes = false}));
  RC_PRE(static_cast<bool>(judged));
  const PlanWhatIf& what_if = *judged->what_if;
  const auto relaxation = PlanRelaxation::make(what_if, {});
  RC_PRE(relaxation.has_value());
  std::mt19937_64 chance(seed);
  for (int i = 0; i < 10; ++i) {
    const auto plan = relaxation->plan(random_actions(relaxation->values().size(), chance));
    if (!plan) continue;
    const PlanFigures whole = what_if.figures(*plan).value();
    const auto percent = *rc::gen::inRange<std::int64_t>(70, 130);
    const Figures max{.peak_bytes = whole.figures.peak_bytes * percent / 100,
                      .step_ns = whole.figures.step_ns * (200 - percent) / 100};
    const auto bounded = what_if.figures_within(*plan, max).value();
    const bool is_within =
        whole.figures.peak_bytes <= max.peak_bytes && whole.figures.step_ns <= max.step_ns;
    RC_ASSERT(is_within == (bounded.exceeds == PlanWhatIf::Exceeds::nothing));
    if (is_within) RC_ASSERT(bounded.figures == whole);
  }
}

}  // namespace
}  // namespace jointer::test
