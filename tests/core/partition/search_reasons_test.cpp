// The reasons of a searched plan: the amounts that the search weighed, not the rules of a
// partitioner.

#include "core/partition/search_reasons.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/judged_plan.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

TEST(SearchReasons, AttributeEveryDecisionToTheSearch) {
  const Judged& judged = judged_sample();
  SavePlan plan = judged.partition.plan;
  std::size_t offloaded = 0;
  const auto before = judged.what_if->candidates(plan).value();
  for (const SaveCandidate& each : before) {
    if (offloaded == 4 || each.action != PlanAction::save) continue;
    const auto changed = judged.what_if->change(plan, {&each.node, 1}, PlanAction::offload);
    if (!changed) continue;
    plan = *changed;
    ++offloaded;
  }
  const auto reasons =
      search_reasons(*judged.what_if, plan, {}, "the search for a peak of at most 40GiB").value();
  const auto after = judged.what_if->candidates(plan).value();
  for (const SaveCandidate& each : after) {
    const PlanReason& reason = reasons[each.node.index()];
    EXPECT_EQ(reason.kind, PlanReason::Kind::searched);
    EXPECT_THAT(reason.text, StartsWith("the search for a peak of at most 40GiB"));
    EXPECT_THAT(reason.text, testing::Not(HasSubstr("list")));
    if (each.action != PlanAction::offload) continue;
    EXPECT_THAT(reason.text, HasSubstr("offloads it: copying"));
    EXPECT_THAT(reason.text, HasSubstr("each way"));
    EXPECT_THAT(reason.text, HasSubstr("recomput"));
  }
}

TEST(SearchReasons, TheUsersTagsStayTags) {
  const Judged& judged = judged_sample();
  const SavePlan& plan = judged.partition.plan;
  const auto candidates = judged.what_if->candidates(plan).value();
  const auto saved = std::ranges::find(candidates, PlanAction::save, &SaveCandidate::action);
  ASSERT_NE(saved, candidates.end());
  std::vector<MemoryPolicy> policies(judged.partition.joint.node_count(), MemoryPolicy::none);
  policies[saved->node.index()] = MemoryPolicy::must_save;
  const auto reasons = search_reasons(*judged.what_if, plan, policies, "the search").value();
  EXPECT_EQ(reasons[saved->node.index()].kind, PlanReason::Kind::tagged);
  EXPECT_THAT(reasons[saved->node.index()].text, HasSubstr("MUST_SAVE"));
  // A tag that the plan does not follow decided nothing.
  policies[saved->node.index()] = MemoryPolicy::must_recompute;
  EXPECT_EQ(search_reasons(*judged.what_if, plan, policies, "the search")
                .value()[saved->node.index()]
                .kind,
            PlanReason::Kind::searched);
}

}  // namespace
}  // namespace jointer::test
