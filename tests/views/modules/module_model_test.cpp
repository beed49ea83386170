#include "views/modules/module_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/support/joints.h"
#include "tests/support/model_rows.h"
#include "tests/support/snapshots.h"
#include "views/session/sac/sac_solver.h"
#include "views/session/snapshot/range_figures.h"

namespace jointer::views {
namespace {

using ::testing::ElementsAre;

class ModuleModelTest : public ::testing::Test {
 protected:
  void show(std::string_view literal) {
    snapshot_ = test::snapshot_of(literal);
    model_.set_snapshot(snapshot_);
  }
  std::vector<std::string> names(int parent = -1) {
    std::vector<std::string> result;
    for (const int row : model_.shown(parent)) result.push_back(model_.text(row, 0).toStdString());
    return result;
  }
  int row(const QString& name) { return test::row_of(model_, name); }

  SnapshotPtr snapshot_;
  ModuleModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(ModuleModelTest, MakesOneRowOfIdenticalLayers) {
  show(R"(
    x: f32[8,64] = input
    a: f32[8,64] = aten.relu(x)  {layers.0.act}
    b: f32[8,64] = aten.relu(a)  {layers.1.act}
    c: f32[8,64] = aten.relu(b)  {layers.2.act}
    d: f32[8,64] = aten.sin(c)   {layers.3.act}
    e: f32[8,64] = aten.relu(d)  {norm}
    return [e]
  )");
  EXPECT_THAT(names(), ElementsAre("layers.0..2  ×3", "layers.3", "norm", "(no module)"));
  EXPECT_THAT(names(0), ElementsAre("layers.0", "layers.1", "layers.2"));
  EXPECT_EQ(model_.number(0, ModuleModel::nodes_column), 3);
  EXPECT_EQ(model_.nodes(0).size(), 3U);
  // The list, its items, their activations, and the norm.
  EXPECT_EQ(snapshot_->analysis.modules.size() - 1, 10U);
  EXPECT_TRUE(
      model_.totals_text(model_.totals()).startsWith("5 modules at this level, 10 in total · "))
      << model_.totals_text(model_.totals()).toStdString();
  EXPECT_EQ(model_.text(model_.row_of(snapshot_->graph.find("b")), 0), "act");
}

TEST_F(ModuleModelTest, SortsNumberedChildrenBetweenNamedOnes) {
  show(R"(
    x: f32[8,64] = input
    a: f32[8,64] = aten.relu(x)  {layers.10}
    b: f32[8,64] = aten.sin(a)   {layers.norm}
    c: f32[8,64] = aten.cos(b)   {layers.2}
    d: f32[8,64] = aten.tanh(c)  {layers.act}
    e: f32[8,64] = aten.exp(d)   {layers.0}
    return [e]
  )");
  EXPECT_THAT(names(row("layers")), ElementsAre("0", "norm", "2", "act", "10"));
}

TEST_F(ModuleModelTest, LayersOfOtherShapesAreNotIdentical) {
  show(R"(
    x: f32[8,64] = input
    y: f32[4,64] = input
    a: f32[8,64] = aten.relu(x)  {layers.0}
    b: f32[4,64] = aten.relu(y)  {layers.1}
    return [a, b]
  )");
  EXPECT_THAT(names(), ElementsAre("layers.0", "layers.1", "(no module)"));
}

TEST_F(ModuleModelTest, TheOrderOfNodesDoesNotMatter) {
  show(R"(
    x: f32[8,64] = input
    a: f32[8,64] = aten.relu(x)  {layers.0}
    b: f32[8,64] = aten.sin(x)   {layers.0}
    c: f32[8,64] = aten.sin(a)   {layers.1}
    d: f32[8,64] = aten.relu(b)  {layers.1}
    return [c, d]
  )");
  EXPECT_EQ(names().front(), "layers.0..1  ×2");
}

TEST_F(ModuleModelTest, ALayerThatARangeCutsIsNotIdenticalToWholeOnes) {
  show(R"(
    x: f32[8,64] = input
    a: f32[8,64] = aten.relu(x)  {layers.0}
    b: f32[8,64] = aten.relu(a)  {layers.1}
    c: f32[8,64] = aten.relu(b)  {layers.2}
    return [c]
  )");
  const Simulation& simulation = snapshot_->analysis.simulation;
  const NodeTiming& first = simulation.timing(snapshot_->graph.find("a"));
  const std::int64_t half = (first.end - first.start) / 2;
  ASSERT_GT(half, 0);
  const auto show_from = [&](std::int64_t begin) {
    model_.set_snapshot(snapshot_,
                        range_figures(*snapshot_, {.begin = begin, .end = simulation.step_ns()}));
    return names();
  };
  EXPECT_EQ(show_from(first.start).front(), "layers.0..2  ×3");
  const std::vector<std::string> cut = show_from(first.start + half);
  ASSERT_GE(cut.size(), 2U);
  EXPECT_EQ(cut[0], "layers.0");
  EXPECT_EQ(cut[1], "layers.1..2  ×2");
}

TEST_F(ModuleModelTest, NumbersLayersInOrderNotAsText) {
  std::string text = "x: f32[8] = input\n";
  // Increasing sizes, so that none are identical, and not in numerical order.
  for (const int i : {10, 2, 1})
    text += fmt::format("i{0}: f32[{1}] = input\na{0}: f32[{1}] = aten.relu(i{0}) {{layers.{0}}}\n",
                        i, i + 8);
  show(text + "return [a1, a2, a10]");
  EXPECT_THAT(names(), ElementsAre("layers.1", "layers.2", "layers.10", "(no module)"));
}

TEST_F(ModuleModelTest, SumsPhasesAndSavedActivations) {
  show(test::kSmallStep);
  const int layers = row("layers.0");
  const Analysis& analysis = snapshot_->analysis;
  const auto ns = [&](const char* name) {
    return analysis.costs[snapshot_->graph.find(name).index()].ns;
  };
  EXPECT_EQ(model_.number(layers, ModuleModel::forward_column), ns("mm") + ns("relu"));
  EXPECT_EQ(model_.number(layers, ModuleModel::backward_column), ns("t0") + ns("gw0"));
  EXPECT_EQ(model_.number(layers, ModuleModel::saved_column), 8 * 64 * 4) << "relu, read by t1";
  // The root rows add up to the graph.
  const auto totals = model_.totals();
  EXPECT_EQ(totals.by_column[ModuleModel::nodes_column],
            static_cast<std::int64_t>(snapshot_->graph.node_count()));
  EXPECT_EQ(totals.by_column[ModuleModel::parameters_column], 2 * 64 * 64 * 4);
}

// As in the Graph pane, which shows the same plan.
TEST_F(ModuleModelTest, SavedBytesAreThoseOfThePlan) {
  show(test::layered_joint(5));
  const auto saved = [this] { return model_.totals().by_column[ModuleModel::saved_column]; };
  const auto of_graph = saved();
  const QString meaning = model_.columns()[ModuleModel::saved_column].meaning;
  SacSolver solver;
  const auto show_plan = [&](std::vector<PolicyChoice> choices) {
    const SacStatePtr state = solver.state({snapshot_, snapshot_, {}, std::move(choices)}).value();
    model_.set_snapshot(snapshot_, {}, saved_values_of(*state));
    EXPECT_EQ(saved(), state->figures.saved_bytes);
    return *state;
  };
  const SacState solved = show_plan({});
  EXPECT_LT(saved(), of_graph);
  EXPECT_NE(model_.columns()[ModuleModel::saved_column].meaning, meaning);
  const NodeId act = snapshot_->graph.find("act1");
  const bool was_saved = solved.tensor_of(act)->action == PlanAction::save;
  const auto before = model_.number(row("layers.1"), ModuleModel::saved_column);
  show_plan({{{act}, was_saved ? PlanAction::recompute : PlanAction::save}});
  EXPECT_NE(model_.number(row("layers.1"), ModuleModel::saved_column), before);
  model_.set_snapshot(snapshot_);
  EXPECT_EQ(saved(), of_graph);
}

TEST_F(ModuleModelTest, GroupsBySourceLineWithoutModules) {
  show("x: f32[8] = input\na: f32[8] = aten.relu(x)\nreturn [a]");
  EXPECT_TRUE(model_.shows_source_lines());
  EXPECT_THAT(names(), ElementsAre("(no source)"));

  Graph graph = snapshot_->graph;
  const NodeId a = graph.find("a");
  graph.node(a).stack =
      graph.add_stack(graph.node(a).part,
                      "File \"/models/model.py\", line 7, in forward\n  y = f(x)\n"
                      "File \"/models/act.py\", line 3, in f\n  return relu(x)\n");
  model_.set_snapshot(*make_snapshot(std::move(graph), {}));
  EXPECT_THAT(names(), ElementsAre("(no source)", "act.py:3")) << "the innermost line";
  EXPECT_EQ(model_.text(1, ModuleModel::type_column), "return relu(x)");
  EXPECT_EQ(model_.number(1, ModuleModel::nodes_column), 1);
}

}  // namespace
}  // namespace jointer::views
