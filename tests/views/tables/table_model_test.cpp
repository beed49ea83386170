// Tests sorting, filtering, totals and TSV of the base class with given rows.

#include "views/tables/table_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <QAbstractItemModelTester>

namespace jointer::views {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ListModel : public TableModel {
 public:
  struct Row {
    QString name;
    std::optional<std::int64_t> bytes;
    int parent = -1;
  };

  explicit ListModel(std::vector<Row> rows = {}) : TableModel({"1 row", "%1 rows"}) {
    set_columns({
        {.title = "name"},
        {.title = "bytes", .unit = Unit::bytes, .meaning = "Given.", .adds_up = true},
    });
    give(std::move(rows));
  }

  void give(std::vector<Row> rows) {
    begin_rows();
    rows_ = std::move(rows);
    std::vector<int> parents;
    for (const Row& row : rows_) parents.push_back(row.parent);
    set_rows(std::move(parents));
  }

  [[nodiscard]] std::optional<std::int64_t> number(int row, int /*column*/) const override {
    return rows_[static_cast<std::size_t>(row)].bytes;
  }
  [[nodiscard]] QString text(int row, int /*column*/) const override {
    return rows_[static_cast<std::size_t>(row)].name;
  }
  [[nodiscard]] std::uint64_t key(int row) const override { return qHash(text(row, 0)); }
  [[nodiscard]] std::vector<NodeId> nodes(int row) const override {
    return {NodeId(static_cast<std::size_t>(row))};
  }
  [[nodiscard]] int row_of(NodeId node) const override { return static_cast<int>(node.index()); }

 private:
  std::vector<Row> rows_;
};

std::vector<std::string> names(const TableModel& model, const QModelIndex& parent = {}) {
  std::vector<std::string> result;
  for (int i = 0; i < model.rowCount(parent); ++i)
    result.push_back(model.index(i, 0, parent).data().toString().toStdString());
  return result;
}

TEST(TableModel, SortsByRawValuesAndStably) {
  ListModel model({{"a", 1024}, {"b", 1000}, {"c", 1024}, {"d", std::nullopt}});
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  // As text, 1,000 B would also sort before 1.00 KiB, but not after it.
  model.sort(1, Qt::DescendingOrder);
  EXPECT_THAT(names(model), ElementsAre("a", "c", "b", "d"));
  model.sort(1, Qt::AscendingOrder);
  EXPECT_THAT(names(model), ElementsAre("d", "b", "a", "c"));
  model.sort(0, Qt::DescendingOrder);
  EXPECT_THAT(names(model), ElementsAre("d", "c", "b", "a"));
  model.sort(-1);
  EXPECT_THAT(names(model), ElementsAre("a", "b", "c", "d"));
}

TEST(TableModel, KeepsIndicesWhileItSorts) {
  ListModel model({{"a", 1}, {"b", 3}, {"c", 2}});
  const QPersistentModelIndex b = model.index(1, 0);
  model.sort(1, Qt::DescendingOrder);
  EXPECT_EQ(b.row(), 0);
  EXPECT_EQ(b.data().toString(), "b");
}

TEST(TableModel, FiltersWithAncestorsAndDescendants) {
  ListModel model(
      {{"layers", 10}, {"attention", 4, 0}, {"wq weight", 2, 1}, {"norm", 1, 0}, {"output", 5}});
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set_filter("ATTENTION");
  EXPECT_THAT(names(model), ElementsAre("layers"));
  const QModelIndex layers = model.index(0, 0);
  EXPECT_THAT(names(model, layers), ElementsAre("attention"));
  EXPECT_THAT(names(model, model.index(0, 0, layers)), ElementsAre("wq weight"));
  EXPECT_FALSE(model.index_of(4).isValid());
  model.set_filter("weight wq");
  EXPECT_THAT(names(model, layers), ElementsAre("attention")) << "words in any order";
  model.set_filter("nothing");
  EXPECT_THAT(names(model), IsEmpty());
  model.set_filter("  ");
  EXPECT_THAT(names(model), ElementsAre("layers", "output"));
}

TEST(TableModel, AddsUpEachPartOnce) {
  ListModel model(
      {{"layers", 10}, {"attention", 4, 0}, {"wq", 2, 1}, {"norm", 1, 0}, {"output", 5}});
  const auto bytes = [](const TableModel::Totals& totals) { return totals.by_column[1]; };
  EXPECT_EQ(bytes(model.totals()), 15);
  const std::vector<int> rows{0, 2, 4};
  EXPECT_EQ(bytes(model.totals(rows)), 15) << "wq is a part of layers";
  EXPECT_EQ(model.totals(rows).things, 2U);
  // A row shown only because of its descendants counts only these.
  model.set_filter("attention");
  EXPECT_EQ(bytes(model.totals()), 4);
  EXPECT_EQ(model.totals_text(model.totals()), "1 row · 4 B");
}

TEST(TableModel, WritesTsvWithRawNumbers) {
  ListModel model({{"a\tb", 1'048'576}, {"c", std::nullopt}});
  const std::vector<int> rows{0, 1};
  EXPECT_EQ(model.tsv(rows), "name\tbytes\na b\t1048576\nc\t\n");
}

TEST(TableModel, ShowsTheExactValueAndItsMeaning) {
  const ListModel model({{"a", 1'048'577}});
  EXPECT_EQ(model.index(0, 1).data(Qt::ToolTipRole).toString(), "1,048,577 bytes\nGiven.");
  EXPECT_EQ(model.index(0, 1).data().toString(), "1.00 MiB");
  EXPECT_EQ(model.index(0, 1).data(TableModel::raw_role).toLongLong(), 1'048'577);
}

// The visible rows are always those that match the filter, in stable sort order.
RC_GTEST_PROP(TableModelProperties, ShowsMatchesInOrder, ()) {
  std::vector<ListModel::Row> rows;
  const int count = *rc::gen::inRange(0, 40);
  for (int i = 0; i < count; ++i)
    rows.push_back({QString(QChar(u'a' + *rc::gen::inRange(0, 3))) + QString::number(i),
                    *rc::gen::inRange(0, 5)});
  ListModel model(rows);
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  for (int step = 0; step < 5; ++step) {
    const QString filter = *rc::gen::elementOf(std::vector<QString>{"", "a", "b", "1"});
    const bool descending = *rc::gen::arbitrary<bool>();
    model.set_filter(filter);
    model.sort(1, descending ? Qt::DescendingOrder : Qt::AscendingOrder);
    std::vector<int> expected;
    for (int i = 0; i < count; ++i)
      if (rows[static_cast<std::size_t>(i)].name.contains(filter)) expected.push_back(i);
    std::stable_sort(expected.begin(), expected.end(), [&](int a, int b) {
      const auto x = rows[static_cast<std::size_t>(a)].bytes,
                 y = rows[static_cast<std::size_t>(b)].bytes;
      return descending ? x > y : x < y;
    });
    const auto shown = model.shown(-1);
    RC_ASSERT(std::vector<int>(shown.begin(), shown.end()) == expected);
  }
}

}  // namespace
}  // namespace jointer::views
