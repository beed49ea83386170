#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/support/snapshots.h"
#include "views/find/hit_list.h"

namespace jointer::views {
namespace {

TEST(HitModel, ShowsTheNodesInTheirOrder) {
  const SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
  const Graph& graph = snapshot->graph;
  HitModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  const std::vector<NodeId> nodes{graph.find("x"), graph.find("mm"), graph.find("ar")};
  model.set_nodes(snapshot, nodes);
  ASSERT_EQ(model.row_count(), 3);
  EXPECT_TRUE(model.shows(snapshot, nodes));
  EXPECT_EQ(model.text(1, HitModel::name_column), "mm");
  EXPECT_EQ(model.text(1, HitModel::operator_column), "aten.mm.default");
  EXPECT_EQ(model.text(0, HitModel::operator_column), "") << "a placeholder calls nothing";
  EXPECT_FALSE(model.number(0, HitModel::call_column)) << "and has no number";
  EXPECT_EQ(model.headerData(HitModel::call_column, Qt::Horizontal, Qt::DisplayRole).toString(),
            "call");
  EXPECT_EQ(model.number(1, HitModel::time_column), snapshot->analysis.costs[nodes[1].index()].ns);
  EXPECT_EQ(model.row_of(nodes[2]), 2);
  EXPECT_EQ(model.row_of(graph.find("relu")), -1);
  EXPECT_EQ(model.item_count_text(12'345), "12,345 nodes");
  model.set_nodes(snapshot, {});
  EXPECT_EQ(model.row_count(), 0);
}

}  // namespace
}  // namespace jointer::views
