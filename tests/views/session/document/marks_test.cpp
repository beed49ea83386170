#include "views/session/document/marks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

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

// --- The range between two marks ---

class RangesBetweenMarks : public testing::Test {
 protected:
  [[nodiscard]] std::size_t moment(const char* name, bool after_frees = false) const {
    return *snapshot->analysis.memory.point_of(snapshot->graph.find(name), after_frees);
  }
  [[nodiscard]] std::int64_t time(const char* name) const {
    return snapshot->estimated_time.position(moment(name));
  }
  void mark(const char* name) { marks.toggle(*snapshot, moment(name)); }
  [[nodiscard]] std::optional<TimeRange> around(std::size_t moment) const {
    return marks.range_around(*snapshot, moment);
  }

  SnapshotPtr snapshot = test::snapshot_of(R"(
    x: f32[8,8] = input
    a: f32[8,8] = aten.relu(x)
    t: f32[8,8] = aten.t(a)
    b: f32[8,8] = aten.neg(t)
    c: f32[8,8] = aten.cos(b)
    d: f32[8,8] = aten.sin(c)
    return [a, b, d]
  )");
  Marks marks;
};

TEST_F(RangesBetweenMarks, NeedTwoMarks) {
  EXPECT_FALSE(around(moment("b")));
  mark("b");
  EXPECT_FALSE(around(moment("b")));
  EXPECT_FALSE(around(0));
}

TEST_F(RangesBetweenMarks, AreThoseAroundTheMoment) {
  // The order in which moments were marked does not matter.
  for (const char* name : {"d", "a", "b"}) mark(name);
  ASSERT_LT(time("a"), time("b"));
  ASSERT_LT(time("b"), time("c"));
  ASSERT_LT(time("c"), time("d"));
  EXPECT_EQ(around(moment("c")), (TimeRange{time("b"), time("d")}));
  // A range begins at its mark, so that mark is in it, and not in the range before.
  EXPECT_EQ(around(moment("a")), (TimeRange{time("a"), time("b")}));
  EXPECT_EQ(around(moment("b")), (TimeRange{time("b"), time("d")}));
}

TEST_F(RangesBetweenMarks, AreTheNearestIfOneSideHasNone) {
  for (const char* name : {"a", "b", "c"}) mark(name);
  EXPECT_EQ(around(0), (TimeRange{time("a"), time("b")}));
  EXPECT_EQ(around(moment("d")), (TimeRange{time("b"), time("c")}));
  EXPECT_EQ(around(moment("c")), (TimeRange{time("b"), time("c")}));
}

TEST_F(RangesBetweenMarks, AreNeverEmpty) {
  // A view takes no time: it allocates and frees at the same time.
  marks.toggle(*snapshot, moment("t"));
  marks.toggle(*snapshot, moment("t", true));
  ASSERT_EQ(marks.moments(*snapshot).size(), 2U);
  ASSERT_EQ(snapshot->estimated_time.position(moment("t")),
            snapshot->estimated_time.position(moment("t", true)));
  EXPECT_FALSE(around(moment("t")));
  mark("a");
  EXPECT_EQ(around(moment("d")), (TimeRange{time("a"), time("t")}));
}

TEST_F(RangesBetweenMarks, IgnoreMarksThatAreNotShown) {
  marks.set({{.node = "later"}, {.node = "a"}});
  EXPECT_FALSE(around(moment("b")));
  marks.set({{.node = "later"}, {.node = "a"}, {.node = "c"}});
  EXPECT_EQ(around(moment("b")), (TimeRange{time("a"), time("c")}));
}

}  // namespace
}  // namespace jointer::views
