#include "views/pipeline/report/pass_table_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "tests/support/snapshots.h"
#include "tests/views/pipeline/report/reports.h"

namespace jointer::views {
namespace {

using CellUnit = PassTable::Unit;

PassTableModel::TablePtr table_of(std::vector<PassTable::Row> rows) {
  return std::make_shared<const PassTable>(
      PassTable{.title = "Collectives",
                .columns = {{"group", CellUnit::text},
                            {"improvement", CellUnit::nanoseconds},
                            {"moves", CellUnit::count},
                            {"memory", CellUnit::bytes},
                            {"score", CellUnit::number}},
                .rows = std::move(rows)});
}

class PassTableModelTest : public ::testing::Test {
 protected:
  SnapshotPtr snapshot_ = test::snapshot_of(test::kCollectives);
  PassTableModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(PassTableModelTest, ColumnsHaveUnitsAndMeaningfulTotals) {
  model_.set(
      table_of(
          {{"v0",
            {std::string("fsdp"), std::int64_t{-1500}, std::int64_t{3}, std::int64_t{2048}, 0.5}},
           {"v1",
            {std::string("fsdp"), std::int64_t{4500}, std::int64_t{9}, std::int64_t{4096}, 1.25}},
           {"",
            {std::string("all"), std::int64_t{3000}, std::int64_t{12}, std::int64_t{9216}, {}}}}),
      snapshot_);
  ASSERT_EQ(model_.row_count(), 2) << "the pass's own totals are not rows";
  EXPECT_EQ(model_.summary(), "all: improvement 3.00 us · moves 12 · memory 9.00 KiB");
  EXPECT_EQ(model_.columns().at(2).title, "improvement");
  EXPECT_EQ(model_.number(0, 2), -1500);
  EXPECT_EQ(model_.data(model_.index_of(0, 2), Qt::DisplayRole), "\u22121.50 us");
  EXPECT_EQ(model_.data(model_.index_of(1, 5), Qt::DisplayRole), "1.25");
  EXPECT_EQ(model_.data(model_.index_of(0, 4), Qt::TextAlignmentRole).toInt() & Qt::AlignRight,
            Qt::AlignRight);
  const TableModel::Totals totals = model_.totals();
  EXPECT_EQ(totals.by_column.at(2), 3000);
  EXPECT_EQ(totals.by_column.at(3), 12);
  EXPECT_FALSE(totals.by_column.at(4)) << "levels of memory do not add up";
  EXPECT_EQ(model_.totals_text(totals), "2 rows · 3.00 us improvement · 12 moves");
  EXPECT_EQ(model_.row_of(snapshot_->graph.find("v1")), 1);
  EXPECT_EQ(model_.nodes(1), std::vector{snapshot_->graph.find("v1")});
}

TEST_F(PassTableModelTest, NegativeTotalsHaveAMinusSign) {
  model_.set(table_of({{"v0", {std::string("fsdp"), std::int64_t{-1500}}},
                       {"", {std::string("-all"), std::int64_t{-1500}}}}),
             snapshot_);
  EXPECT_EQ(model_.summary(), "-all: improvement \u22121.50 us");
}

TEST_F(PassTableModelTest, AcceptsIncompleteTables) {
  model_.set(table_of({{"", {std::string("a")}}, {"", {}}}), snapshot_);
  EXPECT_EQ(model_.row_count(), 2) << "no row is a total, since no row has a node";
  EXPECT_EQ(model_.text(1, 1), "");
  EXPECT_FALSE(model_.number(1, 2));
  EXPECT_EQ(model_.summary(), "");
  EXPECT_TRUE(model_.nodes(0).empty());
}

TEST_F(PassTableModelTest, ShowsReportsOfBuiltInPasses) {
  const auto steps = test::reported(snapshot_->graph, "sink_waits_iterative");
  ASSERT_EQ(steps.at(0).result->tables.size(), 1U);
  const PassTable& table = steps[0].result->tables[0];
  model_.set({steps[0].result, &table}, snapshot_);
  EXPECT_EQ(model_.columns().size(), table.columns.size() + 1);
  EXPECT_EQ(model_.row_count() + 1, static_cast<int>(table.rows.size()));
  EXPECT_TRUE(model_.summary().startsWith("all: improvement "));
  for (int row = 0; row < model_.row_count(); ++row) EXPECT_EQ(model_.nodes(row).size(), 1U);
}

}  // namespace
}  // namespace jointer::views
