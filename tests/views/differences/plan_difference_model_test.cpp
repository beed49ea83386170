// The rows of the table of a plan's changes: groups, totals, and the nodes that they stand for.

#include "views/differences/plan_difference_model.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/support/joints.h"
#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

using testing::ElementsAre;

PlanChangesPtr some_changes() {
  const auto row = [](const char* name, const char* target, std::int64_t layer, MaybeAction to,
                      std::int64_t saved, std::int64_t host, std::int64_t ns) {
    return PlanChangeRow{.name = name,
                         .target = target,
                         .module = "layers",
                         .layer = layer,
                         .from = PlanAction::save,
                         .to = to,
                         .change = {saved, host, ns}};
  };
  PlanChanges changes;
  changes.difference.rows = {row("mm0", "aten.mm", 0, PlanAction::offload, -100, 100, 0),
                             row("act0", "aten.sigmoid", 0, PlanAction::recompute, -50, 0, 3),
                             row("mm1", "aten.mm", 1, PlanAction::recompute, -100, 0, 9),
                             row("gone", "aten.sin", -1, std::nullopt, -10, 0, 0)};
  return std::make_shared<const PlanChanges>(std::move(changes));
}

class PlanDifferenceModelTest : public testing::Test {
 protected:
  PlanDifferenceModelTest() { model.set(some_changes(), snapshot); }

  [[nodiscard]] std::vector<std::string> lines(int parent = -1) const {
    std::vector<std::string> all;
    for (const int row : model.shown(parent))
      all.push_back(model.text(row, PlanDifferenceModel::name_column).toStdString() + ": " +
                    model.text(row, PlanDifferenceModel::change_column).toStdString());
    return all;
  }

  SnapshotPtr snapshot = test::snapshot_of(test::layered_joint(2));
  PlanDifferenceModel model;
  QAbstractItemModelTester tester{&model};
};

TEST_F(PlanDifferenceModelTest, GroupsByLayer) {
  EXPECT_THAT(lines(), ElementsAre("layer 0: 1 saved → offloaded, 1 saved → recomputed",
                                   "layer 1: 1 saved → recomputed",
                                   "outside of layers: 1 saved → not needed"));
  EXPECT_THAT(lines(0), ElementsAre("mm0: saved → offloaded", "act0: saved → recomputed"));
  EXPECT_EQ(model.number(0, PlanDifferenceModel::saved_column), -150);
  EXPECT_EQ(model.number(0, PlanDifferenceModel::host_column), 100);
  EXPECT_EQ(model.number(0, PlanDifferenceModel::time_column), 3);
}

// The row of identical layers can be expanded to the values that correspond, and these to the value
// of each layer.
TEST_F(PlanDifferenceModelTest, FoldsIdenticalLayers) {
  PlanChanges changes = *some_changes();
  changes.difference.rows.clear();
  for (const int layer : {0, 1, 2})
    for (const char* name : {"mm", "act"})
      changes.difference.rows.push_back({.name = fmt::format("{}{}", name, layer),
                                         .target = fmt::format("aten.{}", name),
                                         .module = fmt::format("layers.{}.wq", layer),
                                         .layer = layer,
                                         .from = PlanAction::save,
                                         .to = PlanAction::recompute,
                                         .change = {-100, 0, 5}});
  model.set(std::make_shared<const PlanChanges>(std::move(changes)), snapshot);
  EXPECT_THAT(lines(), ElementsAre("layer 0..2  ×3: 6 saved → recomputed"));
  EXPECT_THAT(lines(0),
              ElementsAre("mm0  ×3: 3 saved → recomputed", "act0  ×3: 3 saved → recomputed"));
  EXPECT_THAT(lines(1), ElementsAre("mm0: saved → recomputed", "mm1: saved → recomputed",
                                    "mm2: saved → recomputed"));
  EXPECT_EQ(model.text(1, PlanDifferenceModel::operator_column), "aten.mm");
  EXPECT_EQ(model.text(1, PlanDifferenceModel::module_column), "layers.*.wq");
  EXPECT_EQ(model.number(0, PlanDifferenceModel::saved_column), -600);
  EXPECT_EQ(model.number(1, PlanDifferenceModel::saved_column), -300);
  EXPECT_EQ(model.totals().by_column[PlanDifferenceModel::saved_column], -600);
  EXPECT_EQ(model.totals().things, 6U);
  EXPECT_EQ(model.nodes(0).size(), 4U);  // the shown graph has two layers
  EXPECT_NE(model.key(0), model.key(1));
  EXPECT_NE(model.key(1), model.key(2));
}

TEST_F(PlanDifferenceModelTest, TotalsAreTheSameForEveryGrouping) {
  const TableModel::Totals by_layer = model.totals();
  model.set_grouping(PlanGrouping::target);
  EXPECT_EQ(lines().front(), "aten.mm: 1 saved → recomputed, 1 saved → offloaded");
  EXPECT_EQ(model.totals().by_column, by_layer.by_column);
  model.set_grouping(std::nullopt);
  EXPECT_EQ(lines().size(), 4U);
  EXPECT_EQ(model.totals().by_column, by_layer.by_column);
  EXPECT_EQ(model.totals().things, 4U);
  EXPECT_EQ(by_layer.by_column[PlanDifferenceModel::saved_column], -260);
}

TEST_F(PlanDifferenceModelTest, RowsStandForNodesOfTheShownGraph) {
  const NodeId mm0 = snapshot->graph.find("mm0"), act0 = snapshot->graph.find("act0");
  EXPECT_THAT(model.nodes(0), ElementsAre(mm0, act0));
  EXPECT_EQ(model.text(model.row_of(act0), PlanDifferenceModel::name_column), "act0");
  model.set_grouping(std::nullopt);
  EXPECT_TRUE(model.nodes(3).empty());
  EXPECT_EQ(model.note(3, PlanDifferenceModel::name_column), "Not in the current graph.");
}

}  // namespace
}  // namespace jointer::views
