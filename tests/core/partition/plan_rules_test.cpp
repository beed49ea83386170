// The decisions that a search for plans may make: by policies, by tags, and by kind of value.

#include "core/partition/plan_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/partition/plan_descent.h"
#include "core/partition/plan_relaxation.h"
#include "tests/support/graphs.h"
#include "tests/support/judged_plan.h"
#include "tests/support/names.h"

namespace jointer::test {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

// Four gathered values, all of which the backward reads. min_cut saves them, as it does all results
// of collectives, although their shards are small.
constexpr const char* kGatheredInputs = R"(
  group tp: 0 1 2 3
  x0: f32[1024] = input
  x1: f32[1024] = input
  x2: f32[1024] = input
  x3: f32[1024] = input
  a0: f32[4096] = _c10d_functional.all_gather_into_tensor(x0, 4, 'tp')
  w0: f32[4096] = _c10d_functional.wait_tensor(a0)
  s0: f32[4096] = aten.sin(w0)
  a1: f32[4096] = _c10d_functional.all_gather_into_tensor(x1, 4, 'tp')
  w1: f32[4096] = _c10d_functional.wait_tensor(a1)
  s1: f32[4096] = aten.add.Tensor(s0, w1)
  a2: f32[4096] = _c10d_functional.all_gather_into_tensor(x2, 4, 'tp')
  w2: f32[4096] = _c10d_functional.wait_tensor(a2)
  s2: f32[4096] = aten.add.Tensor(s1, w2)
  a3: f32[4096] = _c10d_functional.all_gather_into_tensor(x3, 4, 'tp')
  w3: f32[4096] = _c10d_functional.wait_tensor(a3)
  s3: f32[4096] = aten.add.Tensor(s2, w3)
  dy: f32[4096] = tangent
  g3: f32[4096] = aten.mul.Tensor(dy, w3)  {backward}
  g2: f32[4096] = aten.mul.Tensor(g3, w2)  {backward}
  g1: f32[4096] = aten.mul.Tensor(g2, w1)  {backward}
  g0: f32[4096] = aten.mul.Tensor(g1, w0)  {backward}
  return [s3, g0, None, None, None]
)";

constexpr std::array kPlanRuleActions{PlanAction::save, PlanAction::recompute, PlanAction::offload};

TEST(PlanRules, PoliciesAllowOneActionAndPreferencesAll) {
  const auto judged = judge(parse(kGatheredInputs));
  ASSERT_TRUE(judged);
  const Graph& joint = judged->partition.joint;
  const NodeId w = joint.find("w0");
  const auto allowed = [&](MemoryPolicy policy, bool offload) {
    std::vector<MemoryPolicy> policies(joint.node_count(), MemoryPolicy::none);
    policies[w.index()] = policy;
    const PlanRules rules(*judged->what_if, std::move(policies), offload);
    std::vector<PlanAction> actions;
    for (const PlanAction action : kPlanRuleActions)
      if (rules.may(w, action)) actions.push_back(action);
    return actions;
  };
  const std::vector<PlanAction> all(kPlanRuleActions.begin(), kPlanRuleActions.end());
  for (const MemoryPolicy policy :
       {MemoryPolicy::none, MemoryPolicy::prefer_save, MemoryPolicy::prefer_recompute})
    EXPECT_EQ(allowed(policy, true), all) << to_string(policy);
  for (const bool offload : {false, true}) {
    EXPECT_EQ(allowed(MemoryPolicy::must_save, offload), std::vector{PlanAction::save});
    EXPECT_EQ(allowed(MemoryPolicy::must_recompute, offload), std::vector{PlanAction::recompute});
    EXPECT_EQ(allowed(MemoryPolicy::must_cpu_offload, offload), std::vector{PlanAction::offload});
  }
  EXPECT_EQ(allowed(MemoryPolicy::none, false),
            (std::vector{PlanAction::save, PlanAction::recompute}));
}

TEST(PlanRules, AnIncompleteResultIsOnlyRecomputed) {
  const auto judged = judge(parse(kGatheredInputs));
  ASSERT_TRUE(judged);
  const PlanRules rules(*judged->what_if, {}, true);
  const NodeId start = judged->partition.joint.find("a0");
  EXPECT_TRUE(rules.may(start, PlanAction::recompute));
  EXPECT_FALSE(rules.may(start, PlanAction::save));
  EXPECT_FALSE(rules.may(start, PlanAction::offload));
}

// The partitioner settles the tag MUST_SAVE on the gathered values. Neither the relaxation nor
// changes of a plan are bound by it; both are by the user's policy.
TEST(PlanRules, SettledTagsDoNotConstrainASearch) {
  const auto judged = judge(parse(kGatheredInputs));
  ASSERT_TRUE(judged);
  const Partition& solved = judged->partition;
  const PlanWhatIf& what_if = *judged->what_if;
  ASSERT_EQ(node(solved.joint, "w0").policy, MemoryPolicy::must_save);
  ASSERT_THAT(names(solved.joint, solved.plan.saved), IsSupersetOf({"w0", "w1", "w2", "w3"}));
  const EvaluatedPlan start{solved.plan, what_if.figures(solved.plan).value()};
  const auto saved_by = [&](const std::vector<MemoryPolicy>& policies) {
    const PlanRules rules(what_if, policies, false);
    PlanDescent descent(solved.joint, what_if, {.rules = rules, .go_on = [] { return true; }});
    return names(solved.joint, descent.improved(start, PlanLimit::of_peak(0), false).plan.saved);
  };
  const auto action_of_w0 = [&](const std::vector<MemoryPolicy>& policies) {
    const auto relaxation = PlanRelaxation::make(what_if, policies).value();
    const auto at = std::ranges::find(relaxation.values(), solved.joint.find("w0"));
    EXPECT_NE(at, relaxation.values().end());
    return relaxation.solve({.byte_ns = 1e6, .copy = std::nullopt})
        ->actions[static_cast<std::size_t>(at - relaxation.values().begin())];
  };
  EXPECT_THAT(saved_by({}), Not(Contains("w0")));
  EXPECT_EQ(action_of_w0({}), PlanAction::recompute);
  std::vector<MemoryPolicy> policies(solved.joint.node_count(), MemoryPolicy::none);
  policies[solved.joint.find("w0").index()] = MemoryPolicy::must_save;
  EXPECT_THAT(saved_by(policies), Contains("w0"));
  EXPECT_EQ(action_of_w0(policies), PlanAction::save);
}

// A search may save a value whose policy is PREFER_RECOMPUTE, so the bound allows for that, too.
TEST(PlanRules, TheRelaxationMaySaveWhatPrefersRecomputation) {
  const Judged& judged = judged_sample();
  const std::vector<MemoryPolicy> policies(judged.partition.joint.node_count(),
                                           MemoryPolicy::prefer_recompute);
  const PlanPrices cheap{.byte_ns = 0, .copy = std::nullopt};
  const auto free = PlanRelaxation::make(*judged.what_if, {})->solve(cheap);
  const auto preferred = PlanRelaxation::make(*judged.what_if, policies)->solve(cheap);
  ASSERT_TRUE(free && preferred);
  EXPECT_EQ(preferred->actions, free->actions);
  EXPECT_EQ(preferred->cost_ns, free->cost_ns);
}

}  // namespace
}  // namespace jointer::test
