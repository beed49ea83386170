#include "views/session/document/marks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

class MarksTest : public testing::Test {
 protected:
  static std::size_t moment(const SnapshotPtr& snapshot, const char* name) {
    return 1 + 2 * *snapshot->analysis.memory.step_of(snapshot->graph.find(name));
  }
  // The graph with two nodes swapped.
  [[nodiscard]] SnapshotPtr swapped(const char* one, const char* other) const {
    Graph graph = snapshot->graph;
    std::vector<NodeId> order(graph.order().begin(), graph.order().end());
    std::iter_swap(std::ranges::find(order, graph.find(one)),
                   std::ranges::find(order, graph.find(other)));
    graph.set_order(order);
    return make_snapshot(std::move(graph), {}).value();
  }

  SnapshotPtr snapshot = test::snapshot_of(R"(
    x: f32[8,8] = input
    a: f32[8,8] = aten.relu(x)
    b: f32[8,8] = aten.neg(x)
    return [a, b]
  )");
  Marks marks;
};

TEST_F(MarksTest, MoveWithTheirNodes) {
  const SnapshotPtr now = swapped("a", "b");
  ASSERT_NE(moment(snapshot, "a"), moment(now, "a"));
  marks.toggle(*snapshot, moment(snapshot, "a"));
  marks.toggle(*snapshot, moment(snapshot, "b"));
  marks.toggle(*snapshot, moment(snapshot, "b"));
  EXPECT_EQ(marks.all(), std::vector<MarkedMoment>{{.node = "a"}});
  EXPECT_EQ(marks.moments(*now), std::vector{moment(now, "a")});
}

TEST_F(MarksTest, DistinguishAllocationsAndReleases) {
  const std::size_t released = moment(snapshot, "a") + 1;
  marks.toggle(*snapshot, 0);
  marks.toggle(*snapshot, released);
  const std::vector<MarkedMoment> expected{{}, {.node = "a", .is_after_release = true}};
  EXPECT_EQ(marks.all(), expected);
  EXPECT_EQ(marks.moments(*snapshot), (std::vector<std::size_t>{0, released}));
}

TEST_F(MarksTest, OfAPairAreThoseOfItsJointGraph) {
  marks.set({{.node = "backward:b"}});
  EXPECT_EQ(marks.moments(*snapshot), std::vector{moment(snapshot, "b")});
  marks.toggle(*snapshot, moment(snapshot, "b"));
  EXPECT_TRUE(marks.all().empty());
}

TEST_F(MarksTest, WaitForTheirNodes) {
  marks.set({{.node = "later"}, {.node = "b"}});
  EXPECT_EQ(marks.moments(*snapshot), std::vector{moment(snapshot, "b")});
  EXPECT_EQ(marks.all().size(), 2U);
}

}  // namespace
}  // namespace jointer::views
