#include "views/operators/operator_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/support/model_rows.h"
#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

class OperatorModelTest : public ::testing::Test {
 protected:
  OperatorModelTest() { model_.set_snapshot(snapshot_); }

  int row(const QString& name) { return test::row_of(model_, name); }

  SnapshotPtr snapshot_ = test::snapshot_of(test::kSmallStep);
  OperatorModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(OperatorModelTest, HasARowForEveryOperatorThatIsCalled) {
  EXPECT_EQ(model_.row_count(), 6);
  EXPECT_EQ(model_.text(0, 0), "aten.mm.default") << "in the order of the first call";
}

TEST_F(OperatorModelTest, CountsByPhase) {
  const int mm = row("aten.mm.default");
  EXPECT_EQ(model_.number(mm, OperatorModel::count_column), 4);
  EXPECT_EQ(model_.number(mm, OperatorModel::forward_column), 2);
  EXPECT_EQ(model_.number(mm, OperatorModel::backward_column), 2);
}

TEST_F(OperatorModelTest, SumsBytesAndFlops) {
  const int mm = row("aten.mm.default");
  EXPECT_EQ(model_.number(mm, OperatorModel::bytes_column), 2 * (8 * 64 * 4) + 2 * (64 * 64 * 4));
  EXPECT_EQ(model_.number(mm, OperatorModel::flops_column), 4 * 2 * 8 * 64 * 64);
}

TEST_F(OperatorModelTest, KnowsExposedTimeOfCollectivesOnly) {
  EXPECT_FALSE(model_.number(row("aten.mm.default"), OperatorModel::exposed_column));
  EXPECT_EQ(
      model_.number(row("_c10d_functional.all_reduce.default"), OperatorModel::exposed_column),
      snapshot_->analysis.simulation.exposed_ns());
}

TEST_F(OperatorModelTest, SelectsTheNodesThatCallIt) {
  const auto nodes = model_.nodes(row("aten.relu.default"));
  ASSERT_EQ(nodes.size(), 2U);
  EXPECT_EQ(snapshot_->graph.name(nodes[0]), "relu");
  EXPECT_EQ(model_.row_of(nodes[1]), row("aten.relu.default"));
  EXPECT_EQ(model_.row_of(snapshot_->graph.find("x")), -1) << "a placeholder calls nothing";
}

TEST_F(OperatorModelTest, TimesAddUpToTheGraphs) {
  std::int64_t sum = 0;
  for (const NodeCost& cost : snapshot_->analysis.costs) sum += cost.ns;
  EXPECT_EQ(model_.totals().by_column[OperatorModel::time_column], sum);
}

}  // namespace
}  // namespace jointer::views
