#include "views/alive/alive_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <algorithm>

#include "tests/support/graphs.h"
#include "tests/support/model_rows.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/reference.h"
#include "tests/support/snapshots.h"
#include "views/session/text/node_text.h"

namespace jointer::views {
namespace {

class AliveModelTest : public ::testing::Test {
 protected:
  AliveModelTest() { model_.set_snapshot(snapshot_, memory().peak_index()); }

  [[nodiscard]] const MemoryTimeline& memory() const { return snapshot_->analysis.memory; }
  int row(const QString& name) { return test::row_of(model_, name); }

  SnapshotPtr snapshot_ = test::snapshot_of(test::kSmallStep);
  AliveModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(AliveModelTest, AddsUpToTheProfileAtEveryPointInEveryGrouping) {
  for (const auto grouping :
       {AliveModel::Grouping::none, AliveModel::Grouping::module, AliveModel::Grouping::category}) {
    model_.set_grouping(grouping);
    for (std::size_t point = 0; point < memory().profile().size(); ++point) {
      model_.set_moment(point);
      EXPECT_EQ(model_.totals().by_column[AliveModel::bytes_column], memory().profile()[point])
          << point;
      EXPECT_EQ(model_.columns()[AliveModel::share_column].whole, memory().profile()[point]);
      EXPECT_EQ(model_.totals().things, memory().alive_at(point).size());
    }
  }
}

TEST(AliveModelOfACapture, AddsUpToTheProfile) {
  JOINTER_NEEDS_SHARED();
  auto graph = open_graph({.path = test::capture_path("llama3_8b_tp2_fsdp2.joint")});
  ASSERT_TRUE(graph) << graph.error().message;
  const SnapshotPtr snapshot =
      *make_snapshot(*std::move(graph), {.memory = {.optimizer = OptimizerState::adamw}});
  const auto profile = snapshot->analysis.memory.profile();
  AliveModel model;
  model.set_snapshot(snapshot, 0);
  for (const auto grouping : {AliveModel::Grouping::none, AliveModel::Grouping::module}) {
    model.set_grouping(grouping);
    for (std::size_t point = 0; point < profile.size(); point += profile.size() / 20) {
      model.set_moment(point);
      EXPECT_EQ(model.totals().by_column[AliveModel::bytes_column], profile[point]) << point;
    }
  }
}

// A pair whose halves are compiled.
SnapshotPtr compiled_pair() {
  const std::string path = test::source_path("resources/samples/llama_debug_tp2.min_cut.json.zst");
  return test::must(
      make_snapshot(test::must(open_graph({.path = path})), {.execution = Execution::inductor}));
}

// An input lives as long as its half uses it. No half returns it.
TEST(AliveModelOfACompiledStep, SaysHowLongInputsStay) {
  const SnapshotPtr snapshot = compiled_pair();
  const Graph& graph = snapshot->graph;
  AliveModel model;
  model.set_snapshot(snapshot, 0);
  int later_inputs = 0;
  for (const Lifetime& each : snapshot->analysis.memory.lifetimes()) {
    if (each.first < 0 || graph.node(each.producer).kind == NodeKind::call) continue;
    ++later_inputs;
    model.set_moment(1 + 2 * static_cast<std::size_t>(each.first));
    for (int row = 0; row < model.row_count(); ++row) {
      const Node& node = graph.node(model.nodes(row).front());
      if (node.kind == NodeKind::call || node.role == Role::none) continue;
      const QString why = model.text(row, AliveModel::why_column);
      const QString role = node.role == Role::other ? QString("input") : role_text(node.role);
      EXPECT_TRUE(why.startsWith(role)) << why.toStdString();
    }
  }
  EXPECT_GT(later_inputs, 0);
}

// A storage that several buffers share, or that a half of the pair does not keep, has several
// lifetimes, of which only the first has its number.
TEST(AliveModelOfACompiledStep, NamesBuffersAfterTheirNodes) {
  const SnapshotPtr snapshot = compiled_pair();
  const auto lifetimes = snapshot->analysis.memory.lifetimes();
  const auto later =
      std::ranges::find_if(lifetimes, [](const Lifetime& each) { return !each.storage; });
  ASSERT_TRUE(later != lifetimes.end());
  AliveModel model;
  model.set_snapshot(snapshot,
                     later->first < 0 ? 0 : 1 + 2 * static_cast<std::size_t>(later->first));
  ASSERT_GT(model.row_count(), 0);
  for (int row = 0; row < model.row_count(); ++row) {
    const QString name = model.text(row, AliveModel::name_column);
    EXPECT_FALSE(name.contains("Gloo")) << name.toStdString();
  }
}

TEST_F(AliveModelTest, IsLargestFirst) {
  const auto rows = model_.shown(-1);
  for (std::size_t i = 1; i < rows.size(); ++i)
    EXPECT_GE(model_.number(rows[i - 1], AliveModel::bytes_column),
              model_.number(rows[i], AliveModel::bytes_column));
}

TEST_F(AliveModelTest, ExplainsWhyATensorIsAlive) {
  model_.set_moment(1 + 2 * *memory().step_of(snapshot_->graph.find("wt")));
  EXPECT_EQ(model_.text(row("relu"), AliveModel::why_column), "saved; last read by gw1")
      << "through the view t1";
  EXPECT_EQ(model_.text(row("w0"), AliveModel::why_column), "parameter, whole step");
  EXPECT_EQ(model_.text(row("relu"), AliveModel::tensor_column), "f32[8, 64]");
  EXPECT_EQ(model_.number(row("relu"), AliveModel::from_column), 1);
  EXPECT_FALSE(model_.number(row("w0"), AliveModel::from_column));
}

TEST(AliveModelOfAnInput, OfAnotherRoleIsCalledAnInput) {
  Graph graph = test::parse("x: f32[8] = input\ny: f32[8] = aten.neg(x)\nreturn [y]");
  graph.node(graph.find("x")).role = Role::other;
  const SnapshotPtr snapshot = test::must(make_snapshot(std::move(graph), {}));
  AliveModel model;
  model.set_snapshot(snapshot, 0);
  EXPECT_EQ(model.text(test::row_of(model, "x"), AliveModel::why_column), "input, whole step");
}

TEST(AliveModelOfACollective, WithoutAWaitKeepsItsInputInUse) {
  const SnapshotPtr snapshot = test::snapshot_of(R"(
    group tp: 0 1
    x: f32[8,64] = input
    e: f32[8,64] = aten.exp(x)
    ar: f32[8,64] = _c10d_functional.all_reduce(e, 'sum', 'tp')
    y: f32[8,64] = aten.neg(x)
    return [y]
  )");
  AliveModel model;
  model.set_snapshot(snapshot, snapshot->analysis.memory.profile().size() - 1);
  EXPECT_EQ(model.text(test::row_of(model, "e"), AliveModel::why_column),
            "in use at the end: a collective or a copy has no wait");
  EXPECT_EQ(model.text(test::row_of(model, "y"), AliveModel::why_column), "returned at the end");
}

// A large reduction also stores partial sums.
TEST(AliveModelOfCompiledCode, NamesTheBuffersOfKernels) {
  const SnapshotPtr snapshot = test::must(make_snapshot(test::parse(R"(
    device cuda
    x: f32[4194304] = input
    s: f32[] = aten.sum(x)
    return [s]
  )"),
                                                        {.execution = Execution::inductor}));
  AliveModel model;
  QStringList names;
  for (std::size_t point = 0; point < snapshot->analysis.memory.profile().size(); ++point) {
    model.set_snapshot(snapshot, point);
    for (const int row : model.shown(-1)) names << model.text(row, AliveModel::name_column);
  }
  EXPECT_TRUE(names.contains("s (kernel's buffer)")) << names.join(", ").toStdString();
  EXPECT_TRUE(names.filter("Gloo").isEmpty()) << names.join(", ").toStdString();
}

TEST(AliveModelOfGloo, NamesItsCopies) {
  const SnapshotPtr snapshot =
      test::must(make_snapshot(test::parse(R"(
    group tp: 0 1
    x: f32[8,64] = input
    e: f32[8,64] = aten.exp(x)
    rs: f32[4,64] = _c10d_functional.reduce_scatter_tensor(e, 'sum', 2, 'tp')
    wt: f32[4,64] = _c10d_functional.wait_tensor(rs)
    return [wt]
  )"),
                               {.memory = {.collectives = CollectiveLibrary::gloo}}));
  AliveModel model;
  model.set_snapshot(snapshot,
                     1 + 2 * *snapshot->analysis.memory.step_of(snapshot->graph.find("rs")));
  EXPECT_GE(test::row_of(model, "rs (Gloo's copy)"), 0);
}

TEST_F(AliveModelTest, DescribesTheMoment) {
  const QString peak = model_.sentence();
  EXPECT_TRUE(peak.startsWith("At the peak, ")) << peak.toStdString();
  model_.set_moment(0);
  EXPECT_TRUE(model_.sentence().startsWith("At the start: ")) << model_.sentence().toStdString();
  model_.set_moment(2);
  EXPECT_TRUE(model_.sentence().startsWith("After mm (call 0): "))
      << model_.sentence().toStdString();
}

TEST_F(AliveModelTest, FindsTheRowOfANodeByItsStorage) {
  model_.set_moment(1 + 2 * *memory().step_of(snapshot_->graph.find("wt")));
  // The wait returns the collective's buffer.
  EXPECT_EQ(model_.row_of(snapshot_->graph.find("wt")), row("ar"));
  EXPECT_EQ(model_.nodes(row("ar")), std::vector{snapshot_->graph.find("ar")});
  EXPECT_EQ(model_.row_of(snapshot_->graph.find("gw0")), -1) << "not yet";
}

TEST_F(AliveModelTest, GroupsHoldTheirStorages) {
  model_.set_grouping(AliveModel::Grouping::category);
  const int parameters = row("parameters");
  EXPECT_EQ(model_.shown(parameters).size(), 2U);
  EXPECT_EQ(model_.nodes(parameters).size(), 2U);
  EXPECT_EQ(model_.text(parameters, AliveModel::why_column), "2 storages");
  model_.set_grouping(AliveModel::Grouping::module);
  EXPECT_EQ(model_.text(row("layers.0"), AliveModel::category_column), "");
}

}  // namespace
}  // namespace jointer::views
