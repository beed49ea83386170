#include "views/session/sac/step_tags.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "tests/support/held_pool.h"
#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

// `a` is tagged; without the tag, `a`, `b` and `c` would be saved.
constexpr char kTaggedStep[] = R"(
    kind train_step
    x: f32[64] = input
    dy: f32[64] = input
    a: f32[64] = aten.cos(x)                 {m MUST_RECOMPUTE}
    b: f32[64] = aten.silu(a)                {m}
    c: f32[64] = aten.tanh(b)                {m}
    e: f32[64] = aten.mul.Tensor(c, c)       {m}
    g: f32[64] = aten.mul.Tensor(dy, c)      {m backward}
    i: f32[64] = aten.mul.Tensor(g, b)       {m backward}
    j: f32[64] = aten.silu_backward(i, a)    {m backward}
    return [e, j]
  )";

class StepTagsTest : public testing::Test {
 protected:
  test::HeldPool pool;
  StepTags tags;
  QSignalSpy found{&tags, &StepTags::found};
  SnapshotPtr step = test::snapshot_of(kTaggedStep);
};

TEST_F(StepTagsTest, AreAppliedOnceForAllWhoAsk) {
  EXPECT_FALSE(tags.find(step));
  EXPECT_FALSE(tags.find(step));
  pool.run_all();
  EXPECT_EQ(found.count(), 1);
  const auto outcome = tags.find(step);
  ASSERT_TRUE(outcome);
  EXPECT_EQ(tags.find(step), outcome);
  pool.run_all();
  EXPECT_EQ(found.count(), 1);
  const SavePlan plan = plan_of_tags(step->graph).value();
  EXPECT_EQ(outcome->plan, plan);
  const NodeId recomputed = step->graph.find("a");
  for (const SavedValue& value : outcome->saved) EXPECT_NE(value.node, recomputed);
  EXPECT_FALSE(outcome->saved.empty());
}

TEST_F(StepTagsTest, OutcomeOfAnEarlierStepIsDropped) {
  EXPECT_FALSE(tags.find(step));
  pool.run_started();  // it arrives once events are processed
  const SnapshotPtr next = test::snapshot_of(kTaggedStep);
  EXPECT_FALSE(tags.find(next));
  pool.run_all();
  EXPECT_EQ(found.count(), 1) << "only that of the next step";
  EXPECT_FALSE(tags.known(step));
  EXPECT_TRUE(tags.known(next));
}

}  // namespace
}  // namespace jointer::views
