#include "views/query/query_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <limits>

#include "tests/support/snapshots.h"
#include "views/tables/table_export.h"

namespace jointer::views {
namespace {

class AQueryModel : public testing::Test {
 protected:
  void show(QueryResult result) { model.set_result(std::move(result), snapshot); }
  [[nodiscard]] QueryValue id(const char* name) const {
    return std::int64_t{snapshot->graph.find(name).value()};
  }

  SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
  QueryModel model;
  QAbstractItemModelTester tester{&model, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(AQueryModel, ChoosesUnitsByTitle) {
  show({.columns = {"ns", "exposed_ns", "bytes", "FLOPS", "n", "ratio", "node", "nothing", "turns"},
        .rows = {{std::int64_t{1'500'000},
                  std::int64_t{1},
                  std::int64_t{2048},
                  std::int64_t{7},
                  std::int64_t{3},
                  0.25,
                  std::string("mm"),
                  {},
                  std::int64_t{1}}}});
  const auto unit = [&](std::size_t column) { return model.columns()[column].unit; };
  EXPECT_EQ(unit(0), Unit::time);
  EXPECT_EQ(unit(1), Unit::time);
  EXPECT_EQ(unit(2), Unit::bytes);
  EXPECT_EQ(unit(3), Unit::flops);
  EXPECT_EQ(unit(4), Unit::count);
  EXPECT_EQ(unit(5), Unit::thousandths);
  EXPECT_EQ(unit(6), Unit::text);
  EXPECT_EQ(unit(7), Unit::text) << "all values are NULL";
  EXPECT_EQ(unit(8), Unit::count) << "the title only ends in the letters ns";
  EXPECT_EQ(model.index(0, 0).data(), "1.50 ms");
  EXPECT_EQ(model.index(0, 2).data(), "2.00 KiB");
}

TEST_F(AQueryModel, ShowsNumbersThatAreTooLargeAsText) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  show({.columns = {"mixed", "ns", "real_ns", "large_ns"},
        .rows = {{0.5, kMax, 1e300, kMax}, {kMax, std::int64_t{1}, 1.0, std::int64_t{2}}}});
  EXPECT_EQ(model.columns()[0].unit, Unit::text);
  EXPECT_EQ(model.text(1, 0), "9223372036854775807");
  EXPECT_EQ(model.columns()[2].unit, Unit::text);
  EXPECT_EQ(model.text(0, 2), "1e+300");
  // A sum that does not fit is left out.
  EXPECT_EQ(model.number(0, 1), kMax);
  EXPECT_EQ(model.totals().by_column[1], std::nullopt);
}

TEST_F(AQueryModel, ExportsTheExactValues) {
  show({.columns = {"node", "ns", "ratio", "none"},
        .rows = {{std::string("mm\t1"), std::int64_t{1'234'567'891}, 0.123456789, {}}}});
  const std::vector<int> rows = shown_rows(model);
  EXPECT_EQ(model.tsv(rows), "node\tns\tratio\tnone\nmm 1\t1234567891\t0.123456789\t\n");
  EXPECT_EQ(table_csv(model, rows), "node,ns,ratio,none\r\nmm\t1,1234567891,0.123456789,\r\n");
}

TEST_F(AQueryModel, SelectsNodesByIdOrName) {
  show({.columns = {"ns", "node_id"},
        .rows = {{std::int64_t{1}, id("mm")},
                 {std::int64_t{2}, {}},
                 {std::int64_t{3}, std::int64_t{1'000'000}},
                 {std::int64_t{4}, std::int64_t{-1}}}});
  EXPECT_EQ(model.nodes(0), std::vector{snapshot->graph.find("mm")});
  for (const int row : {1, 2, 3}) EXPECT_TRUE(model.nodes(row).empty()) << row;
  EXPECT_EQ(model.row_of(snapshot->graph.find("mm")), 0);
  EXPECT_EQ(model.row_of(snapshot->graph.find("relu")), -1);
  show({.columns = {"node"}, .rows = {{std::string("relu")}, {std::string("no_such")}, {{}}}});
  EXPECT_EQ(model.nodes(0), std::vector{snapshot->graph.find("relu")});
  EXPECT_TRUE(model.nodes(1).empty());
  show({.columns = {"n"}, .rows = {{std::int64_t{1}}}});
  EXPECT_TRUE(model.nodes(0).empty()) << "no column names a node";
}

TEST_F(AQueryModel, SortsNumbersAsNumbers) {
  show({.columns = {"share"}, .rows = {{0.5}, {std::int64_t{2}}, {0.25}, {{}}}});
  model.sort(0, Qt::AscendingOrder);
  std::vector<int> order(model.shown(-1).begin(), model.shown(-1).end());
  EXPECT_EQ(order, (std::vector{3, 2, 0, 1})) << "NULL comes first";
}

TEST_F(AQueryModel, ShowsAResultWithoutRows) {
  show({.columns = {"node", "ns"}});
  EXPECT_EQ(model.columnCount(), 2);
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace jointer::views
