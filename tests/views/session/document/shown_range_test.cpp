#include "views/session/document/shown_range.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "core/schedule/range_figures.h"
#include "tests/support/held_pool.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/document/partitioned.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {
namespace {

class AShownRange : public testing::Test {
 protected:
  void SetUp() override {
    partitioned->set_wanted(true);
    pool.run_all();
    ASSERT_NE(partitioned->document(), nullptr);
  }
  [[nodiscard]] Document& pair() const { return *partitioned->document(); }
  [[nodiscard]] ShownRange& shown() const { return joint.shown_range(); }
  static const NodeTiming& timing(const Document& of, const char* name) {
    return of.analysis().simulation.timing(of.graph().find(name));
  }
  // From the start of one node to the end of another.
  static TimeRange between(const Document& of, const char* first, const char* last) {
    return {timing(of, first).start, timing(of, last).end};
  }
  // The run of the first kernel that is recomputed.
  [[nodiscard]] std::optional<TimeRange> recomputed_run() const {
    for (const NodeId id : pair().graph().order()) {
      const NodeTiming& run = pair().analysis().simulation.timing(id);
      if (pair().graph().node(id).has(Node::recomputed) && run.start < run.end)
        return TimeRange{run.start, run.end};
    }
    return std::nullopt;
  }

  test::HeldPool pool;
  Document joint{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::layered_joint(4))};
  std::unique_ptr<Partitioned> partitioned = std::make_unique<Partitioned>(joint);
};

TEST_F(AShownRange, IsThatOfTheDocumentInTheTimeline) {
  EXPECT_FALSE(shown().range());
  EXPECT_EQ(&shown().document(), &joint);
  shown().move_to(pair());
  EXPECT_EQ(&shown().document(), &joint) << "without a range, panes show the joint graph";
  EXPECT_FALSE(shown().is_partitioned());
  const TimeRange range = between(pair(), "mm1", "out2");
  pair().selection().set_range(range);
  EXPECT_EQ(shown().range(), range);
  EXPECT_EQ(&shown().document(), &pair());
  EXPECT_TRUE(shown().is_partitioned());
  shown().clear();
  EXPECT_FALSE(pair().selection().range());
  EXPECT_EQ(&shown().document(), &joint);
}

TEST_F(AShownRange, KeepsItsNodesInTheOtherGraph) {
  const TimeRange range = between(joint, "mm1", "out2");
  joint.selection().set_range(range);
  shown().move_to(pair());
  EXPECT_FALSE(joint.selection().range());
  EXPECT_EQ(pair().selection().range(), between(pair(), "mm1", "out2"));
  shown().move_to(joint);
  EXPECT_FALSE(pair().selection().range());
  EXPECT_EQ(joint.selection().range(), range);
  joint.selection().set_range(whole_step(joint.analysis().simulation));
  shown().move_to(pair());
  EXPECT_EQ(shown().range(), whole_step(pair().analysis().simulation));
}

TEST_F(AShownRange, IgnoresRecomputedNodes) {
  const auto run = recomputed_run();
  ASSERT_TRUE(run.has_value());
  QString why;
  const QObject context;
  QObject::connect(&shown(), &ShownRange::cleared, &context,
                   [&](const QString& sentence) { why = sentence; });
  shown().move_to(pair());
  const std::int64_t end = pair().analysis().simulation.step_ns();
  pair().selection().set_range(TimeRange{run->begin, end});
  shown().move_to(joint);
  ASSERT_TRUE(shown().range().has_value());
  EXPECT_GE(shown().range()->begin, timing(joint, "y").end) << "the forward is not in the range";
  EXPECT_EQ(shown().range()->end, joint.analysis().simulation.step_ns());
  EXPECT_TRUE(why.isEmpty());

  shown().move_to(pair());
  pair().selection().set_range(run);
  shown().move_to(joint);
  EXPECT_FALSE(shown().range());
  EXPECT_FALSE(joint.selection().range());
  EXPECT_TRUE(why.startsWith("Range cleared")) << why.toStdString();
}

// The Inspector, tables and the timeline ask for the totals one after the other.
TEST_F(AShownRange, IsSummedOnce) {
  const RangeFiguresPtr whole = shown().figures();
  EXPECT_EQ(whole->range(), whole_step(joint.analysis().simulation));
  EXPECT_EQ(shown().figures(), whole);
  const TimeRange range = between(joint, "mm1", "out2");
  joint.selection().set_range(range);
  const RangeFiguresPtr first = shown().figures();
  EXPECT_NE(first, whole);
  EXPECT_EQ(first->range(), range);
  EXPECT_EQ(shown().figures(), first);
  shown().move_to(pair());
  const RangeFiguresPtr of_pair = shown().figures();
  EXPECT_EQ(of_pair->range(), between(pair(), "mm1", "out2"));
  EXPECT_EQ(shown().figures(), of_pair);
  EXPECT_EQ(pair().shown_range().figures(), of_pair);
  // A new graph has new totals, even for the same range.
  const Graph& graph = joint.graph();
  joint.sac().set_action({graph.find("mm1"), graph.find("act1")}, PlanAction::save);
  pool.run_all();
  EXPECT_NE(shown().figures(), of_pair);
}

TEST_F(AShownRange, AnnouncesWhatHasChanged) {
  int ranges = 0, graphs = 0, nodes = 0;
  const QObject context;
  QObject::connect(&shown(), &ShownRange::range_changed, &context, [&] { ++ranges; });
  QObject::connect(&shown(), &ShownRange::graph_changed, &context, [&] { ++graphs; });
  QObject::connect(&shown(), &ShownRange::nodes_changed, &context, [&] { ++nodes; });
  joint.selection().set_range(between(joint, "mm1", "out2"));
  EXPECT_EQ(ranges, 1);
  EXPECT_EQ(graphs, 0);
  joint.selection().select(joint.graph().find("mm2"));
  EXPECT_EQ(nodes, 0) << "the joint graph's own selection";
  shown().move_to(pair());
  EXPECT_EQ(ranges, 1);
  EXPECT_EQ(graphs, 1);
  pair().selection().set_range(between(pair(), "mm1", "out1"));
  EXPECT_EQ(ranges, 2);
  joint.selection().select(joint.graph().find("mm1"));
  EXPECT_EQ(nodes, 1);
  pair().selection().set_range(std::nullopt);
  EXPECT_EQ(ranges, 2);
  EXPECT_EQ(graphs, 2) << "panes show the joint graph now";
  joint.selection().select(joint.graph().find("mm2"));
  EXPECT_EQ(nodes, 2) << "the timeline still shows the pair";
}

TEST_F(AShownRange, FollowsTheTimelineAlsoWithoutARange) {
  int timelines = 0, moments = 0;
  const QObject context;
  QObject::connect(&shown(), &ShownRange::timeline_changed, &context, [&] { ++timelines; });
  QObject::connect(&shown(), &ShownRange::moment_changed, &context, [&] { ++moments; });
  EXPECT_EQ(&shown().in_timeline(), &joint);
  joint.selection().set_moment(2);
  EXPECT_EQ(moments, 1);
  shown().move_to(pair());
  EXPECT_EQ(&shown().in_timeline(), &pair());
  EXPECT_EQ(timelines, 1);
  joint.selection().set_moment(1);
  EXPECT_EQ(moments, 1) << "the timeline shows the pair";
  pair().selection().set_moment(3);
  EXPECT_EQ(moments, 2);
  // Another pair.
  const Graph& graph = joint.graph();
  joint.sac().set_action({graph.find("mm1"), graph.find("act1")}, PlanAction::save);
  pool.run_all();
  EXPECT_EQ(timelines, 2);
  shown().move_to(joint);
  EXPECT_EQ(timelines, 3);
  const int known = moments;
  pair().selection().set_moment(1);
  EXPECT_EQ(moments, known) << "the timeline shows the joint graph";
}

// Panes must not look up nodes of a new pair in the old one.
TEST_F(AShownRange, AnnouncesANewPairBeforeItsNodes) {
  shown().move_to(pair());
  pair().selection().set_range(between(pair(), "mm1", "out2"));
  joint.selection().select(joint.graph().find("gw0"));
  const SnapshotPtr before = pair().shared_snapshot();
  SnapshotPtr announced = before;
  const QObject context;
  QObject::connect(&shown(), &ShownRange::graph_changed, &context,
                   [&] { announced = pair().shared_snapshot(); });
  QObject::connect(&shown(), &ShownRange::nodes_changed, &context,
                   [&] { EXPECT_EQ(announced, pair().shared_snapshot()); });
  const Graph& graph = joint.graph();
  joint.sac().set_action({graph.find("mm1"), graph.find("act1")}, PlanAction::save);
  pool.run_all();
  EXPECT_NE(announced, before);
  EXPECT_EQ(announced, pair().shared_snapshot());
  EXPECT_TRUE(shown().is_partitioned());
}

TEST_F(AShownRange, EndsWithThePair) {
  shown().move_to(pair());
  pair().selection().set_range(between(pair(), "mm1", "out2"));
  partitioned.reset();
  EXPECT_FALSE(shown().range());
  EXPECT_EQ(&shown().document(), &joint);
  joint.selection().set_range(between(joint, "mm1", "out2"));
  EXPECT_EQ(shown().range(), between(joint, "mm1", "out2"));
}

}  // namespace
}  // namespace jointer::views
