#include "views/session/document/partitioned.h"

#include <gtest/gtest.h>

#include "core/edit/edit.h"
#include "tests/support/held_pool.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/document/marks.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/sac_session.h"

namespace jointer::views {
namespace {

class APartitionedGraph : public testing::Test {
 protected:
  [[nodiscard]] NodeId node(const Document& of, const char* name) const {
    return of.graph().find(name);
  }
  // The numbers of the pair are those of the plan.
  void compare_figures() {
    ASSERT_NE(partitioned.document(), nullptr);
    const Analysis& pair = partitioned.document()->analysis();
    const PlanFigures& plan = joint.sac().state()->figures;
    EXPECT_EQ(pair.memory.peak_bytes(), plan.figures.peak_bytes);
    EXPECT_EQ(pair.simulation.step_ns(), plan.figures.step_ns);
    EXPECT_EQ(pair.simulation.exposed_ns(), plan.figures.exposed_ns);
    EXPECT_EQ(pair.simulation.compute_ns(), plan.compute_ns);
    EXPECT_EQ(joint.sac().compute_ns_in_order(), plan.compute_ns);
  }

  test::HeldPool pool;
  Document joint{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::layered_joint(4))};
  Partitioned partitioned{joint};
};

TEST_F(APartitionedGraph, IsBuiltOnlyOnRequest) {
  joint.sac().start();
  pool.run_all();
  EXPECT_EQ(partitioned.document(), nullptr);
  partitioned.set_wanted(true);
  pool.run_all();
  EXPECT_TRUE(partitioned.is_current());
  EXPECT_TRUE(partitioned.document()->graph().is_pair());
}

TEST_F(APartitionedGraph, HasTheFiguresOfThePlanAndFollowsIt) {
  partitioned.set_wanted(true);  // starts the session
  pool.run_all();
  compare_figures();
  const Figures before = joint.sac().state()->figures.figures;
  joint.sac().set_action({node(joint, "mm1"), node(joint, "act1")}, PlanAction::save);
  pool.run_all();
  EXPECT_NE(joint.sac().state()->figures.figures, before);
  EXPECT_TRUE(partitioned.is_current());
  compare_figures();
}

// The document shows a new pair only when its job has ended.
TEST_F(APartitionedGraph, IsCurrentOnceTheDocumentShowsThePair) {
  partitioned.set_wanted(true);
  pool.run_all();
  ASSERT_TRUE(partitioned.is_current());
  const SnapshotPtr first = partitioned.document()->shared_snapshot();
  const SacStatePtr plan = joint.sac().state();
  joint.sac().set_action({node(joint, "mm1"), node(joint, "act1")}, PlanAction::save);
  for (int round = 0; round < 30; ++round) {
    pool.run_all(1);
    if (joint.sac().state()->plan == plan->plan) continue;
    const bool is_new = partitioned.document()->shared_snapshot() != first;
    EXPECT_TRUE(is_new || !partitioned.is_current()) << round;
  }
  EXPECT_NE(partitioned.document()->shared_snapshot(), first);
  EXPECT_TRUE(partitioned.is_current());
}

// The pair lacks the only call with u1, which nothing reads.
TEST_F(APartitionedGraph, HasTheAssumptionsThatHoldForIt) {
  Document guessed{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(R"(
    w: f32[64,64] = parameter
    x: f32[u0,64] = input
    dy: f32[u0,64] = tangent
    seen: i64[u1,2] = aten.nonzero(w)
    y: f32[u0,64] = aten.mm(x, w)
    t: f32[64,64] = aten.t(w)           {backward}
    gx: f32[u0,64] = aten.mm(dy, t)     {backward}
    return [y, None, gx]
  )")};
  guessed.assume(Assumptions::parse("u0=32,u1=7").value());
  Partitioned made{guessed};
  made.set_wanted(true);
  pool.run_all();
  ASSERT_NE(made.document(), nullptr);
  EXPECT_EQ(guessed.graph().assumptions().text(), "u0=32,u1=7");
  EXPECT_EQ(made.document()->graph().assumptions().text(), "u0=32");
}

TEST_F(APartitionedGraph, SharesTheSelectionByName) {
  partitioned.set_wanted(true);
  pool.run_all();
  Document& pair = *partitioned.document();
  joint.selection().select(node(joint, "mm2"));
  EXPECT_EQ(pair.graph().name(pair.selection().current()), "mm2");
  pair.selection().select(node(pair, "gw1"));
  EXPECT_EQ(joint.graph().name(joint.selection().current()), "gw1");
  joint.selection().clear();
  EXPECT_TRUE(pair.selection().nodes().empty());
}

// Find searches the joint graph; the timeline may show the pair.
TEST_F(APartitionedGraph, SharesTheHitsOfASearch) {
  joint.selection().set_hits({node(joint, "mm2")});
  partitioned.set_wanted(true);
  pool.run_all();
  const Document& pair = *partitioned.document();
  const auto names = [&] {
    std::vector<std::string> found;
    for (const NodeId hit : pair.selection().hits())
      if (pair.graph().node(hit).kind == NodeKind::call)
        found.push_back(edit_name(pair.graph(), hit));
    return found;
  };
  ASSERT_FALSE(names().empty());
  EXPECT_EQ(names().front(), "mm2");
  joint.selection().set_hits({node(joint, "gw1")});
  EXPECT_EQ(names(), std::vector<std::string>{"backward:gw1"});
  // They are found again in another pair.
  joint.sac().set_action({node(joint, "mm1"), node(joint, "act1")}, PlanAction::save);
  pool.run_all();
  EXPECT_EQ(names(), std::vector<std::string>{"backward:gw1"});
  joint.selection().set_hits({});
  EXPECT_TRUE(pair.selection().hits().empty());
}

// Marks are saved with the joint graph.
TEST_F(APartitionedGraph, SharesTheMarks) {
  partitioned.set_wanted(true);
  pool.run_all();
  Document& pair = *partitioned.document();
  const auto moment = [&](const Document& of, const char* name) {
    return *of.analysis().memory.point_of(node(of, name), false);
  };
  joint.marks().toggle(joint.snapshot(), moment(joint, "mm2"));
  EXPECT_EQ(pair.marks().moments(pair.snapshot()), std::vector{moment(pair, "mm2")});
  pair.marks().toggle(pair.snapshot(), moment(pair, "gw1"));
  EXPECT_EQ(joint.marks().moments(joint.snapshot()),
            (std::vector{moment(joint, "mm2"), moment(joint, "gw1")}));
  EXPECT_EQ(joint.marks().all().back().node, "backward:gw1");
}

TEST_F(APartitionedGraph, SaysWhyThereIsNone) {
  QString problem;
  QObject::connect(&partitioned, &Partitioned::failed, [&](const QString& why) { problem = why; });
  partitioned.set_wanted(true);
  joint.sac().cancel();
  pool.run_all();
  EXPECT_FALSE(problem.isEmpty());
  EXPECT_EQ(partitioned.document(), nullptr);
}

}  // namespace
}  // namespace jointer::views
