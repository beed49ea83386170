// Tests the files that a plan or a pair is written to, to be opened in another tab.

#include "views/session/sac/pair_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QScopeGuard>
#include <fstream>
#include <set>
#include <string>

#include "core/open/open.h"
#include "core/partition/partition.h"
#include "tests/support/joints.h"
#include "tests/support/judged_plan.h"
#include "tests/support/snapshots.h"
#include "tests/support/temporary_folder.h"
#include "views/session/sac/sac_solver.h"

namespace jointer::views {
namespace {

// Without inputs, which need no memory.
std::set<std::string> calls_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::set<std::string> names;
  for (const NodeId node : nodes)
    if (graph.node(node).kind == NodeKind::call) names.insert(std::string(graph.name(node)));
  return names;
}

// At other budgets than the default, so that the plan differs from that of the partitioner. The
// numbers may differ a little: as in torch, tags make the pair pass on random states.
TEST(JointOfAPair, HasThePlanOfThePair) {
  const test::Judged& judged = test::judged_sample();
  for (const double budget : {0.7, 0.3, 0.0}) {
    PartitionOptions options;
    options.activation_budget = budget;
    const Partition whole = partition(judged.partition.joint, options).value();
    ASSERT_NE(whole.plan, judged.partition.plan) << budget;
    const Graph pair = emit_pair(whole.joint, whole.plan).value();
    const Result<OpenRequest> file = write_joint(pair, QStringLiteral("sample"));
    ASSERT_TRUE(file) << file.error().message;
    const Graph joint = open_graph(*file).value();
    EXPECT_FALSE(joint.is_pair());
    const Partition opened = partition(joint).value();
    EXPECT_EQ(calls_of(opened.joint, opened.plan.saved), calls_of(whole.joint, whole.plan.saved))
        << budget;
    EXPECT_EQ(opened.plan.offloaded.size(), 0U);
  }
}

// The capture has only the size of the group; the distance between its ranks is an assumption.
TEST(GraphFiles, KeepTheAssumptions) {
  const SnapshotPtr plain = test::snapshot_of(test::kSymbolicGather);
  Graph joint = plain->graph;
  const Assumptions given = Assumptions::parse("stride:fsdp=2,u0=32").value();
  const std::string assumed = given.text();
  ASSERT_TRUE(joint.assume(given));
  const SnapshotPtr snapshot = make_snapshot(std::move(joint), {}).value();
  SacSolver solver;
  const SacStatePtr state = solver.state({.now = snapshot, .baseline = snapshot}).value();
  const Result<OpenRequest> pair_file = write_pair(*state, QStringLiteral("pair"));
  ASSERT_TRUE(pair_file) << pair_file.error().message;
  const Result<Graph> pair = open_graph(*pair_file);
  ASSERT_TRUE(pair) << pair.error().message;
  EXPECT_TRUE(pair->is_pair());
  EXPECT_EQ(pair->assumptions().text(), assumed);
  const Result<OpenRequest> joint_file = write_joint(*pair, QStringLiteral("joint"));
  ASSERT_TRUE(joint_file) << joint_file.error().message;
  const Result<Graph> joined = open_graph(*joint_file);
  ASSERT_TRUE(joined) << joined.error().message;
  EXPECT_EQ(joined->assumptions().text(), assumed);
  // So do the graphs of pipeline steps and of searches over pipelines.
  const auto files = write_graph_and_edits(*pair, *pair, {}, QStringLiteral("made"));
  ASSERT_TRUE(files) << files.error().message;
  const Result<Graph> made = open_graph(files->graph);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->assumptions().text(), assumed);
}

TEST(GraphFiles, AFolderThatCannotBeCreatedIsAnErrorWithTheReason) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "data") << "not a folder";
  const QByteArray before = qgetenv("XDG_DATA_HOME");
  const auto restore = qScopeGuard([&] {
    if (before.isNull())
      qunsetenv("XDG_DATA_HOME");
    else
      qputenv("XDG_DATA_HOME", before);
  });
  qputenv("XDG_DATA_HOME", QByteArray::fromStdString(folder / "data"));
  const Graph& graph = test::judged_sample().partition.joint;
  const auto files = write_graph_and_edits(graph, graph, {}, QStringLiteral("made"));
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().kind, Error::Kind::run);
  EXPECT_THAT(files.error().message,
              testing::AllOf(testing::StartsWith("cannot create the folder " + (folder / "data/")),
                             testing::EndsWith(": Not a directory")));
}

TEST(JointOfAPair, NeedsAPair) {
  const Result<OpenRequest> file =
      write_joint(test::judged_sample().partition.joint, QStringLiteral("sample"));
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().kind, Error::Kind::usage);
}

}  // namespace
}  // namespace jointer::views
