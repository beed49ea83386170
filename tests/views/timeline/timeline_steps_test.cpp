#include "views/timeline/timeline_steps.h"

#include <gtest/gtest.h>

#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

class TimelineStepsTest : public testing::Test {
 protected:
  [[nodiscard]] NodeId node(const char* name) const { return snapshot->graph.find(name); }
  [[nodiscard]] const TimelineData& data() const {
    return snapshot->timeline(AxisKind::program_order);
  }

  SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
};

TEST_F(TimelineStepsTest, FollowsTheFlow) {
  EXPECT_EQ(next_in_flow(*snapshot, node("ar"), true), node("wt"));
  EXPECT_EQ(next_in_flow(*snapshot, node("wt"), false), node("ar"));
  EXPECT_EQ(next_in_flow(*snapshot, node("mm"), true), node("relu"));
  EXPECT_EQ(next_in_flow(*snapshot, node("mm"), false), node("x"));
  EXPECT_FALSE(next_in_flow(*snapshot, node("x"), false));
  EXPECT_FALSE(next_in_flow(*snapshot, {}, true));
}

TEST_F(TimelineStepsTest, StaysAtTheEndsOfALane) {
  EXPECT_EQ(next_in_lane(data(), node("mm"), 1), node("relu"));
  EXPECT_EQ(next_in_lane(data(), node("relu"), -1), node("mm"));
  const NodeId first = data().lanes()[1].items().front().node;
  EXPECT_EQ(next_in_lane(data(), first, -1), first);
  EXPECT_EQ(next_in_lane(data(), {}, 1), first);
}

// A selected node may be gone.
TEST_F(TimelineStepsTest, ANodeThatTheGraphDoesNotHaveIsNowhere) {
  for (const NodeId unknown : {NodeId(snapshot->graph.node_count()), NodeId()}) {
    EXPECT_EQ(data().lane_of(unknown), -1);
    EXPECT_EQ(data().extent(unknown).begin, data().extent(unknown).end);
  }
}

TEST_F(TimelineStepsTest, FindsExposedCollectives) {
  EXPECT_EQ(next_exposed(*snapshot, {}, 1), node("ar"));
  EXPECT_EQ(next_exposed(*snapshot, {}, -1), node("ar"));
  EXPECT_EQ(next_exposed(*snapshot, node("mm"), 1), node("ar"));
  EXPECT_FALSE(next_exposed(*snapshot, node("wt"), 1));
}

}  // namespace
}  // namespace jointer::views
