#include "views/pipeline/report/decision_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QElapsedTimer>

#include "tests/support/snapshots.h"
#include "tests/views/pipeline/report/reports.h"
#include "views/tables/table_export.h"

namespace jointer::views {
namespace {

class DecisionModelTest : public ::testing::Test {
 protected:
  DecisionModelTest() {
    model_.set(list_decisions(test::reported(
                   snapshot_->graph, "sink_waits_iterative,eliminate_dead_code,sink_waits")),
               snapshot_);
  }
  [[nodiscard]] QStringList shown(int column = DecisionModel::node_column) const {
    QStringList texts;
    for (const int row : shown_rows(model_)) texts << model_.text(row, column);
    return texts;
  }

  SnapshotPtr snapshot_ = test::snapshot_of(test::kCollectives);
  DecisionModel model_;
  QAbstractItemModelTester tester_{&model_, QAbstractItemModelTester::FailureReportingMode::Fatal};
};

TEST_F(DecisionModelTest, HasARowForEveryDecisionOfEveryStep) {
  std::size_t count = 0;
  for (const ReportedStep& step : model_.list().steps) count += step.result->decisions.size();
  ASSERT_GT(count, 0U);
  EXPECT_EQ(static_cast<std::size_t>(model_.row_count()), count);
  EXPECT_EQ(model_.text(0, DecisionModel::step_column), "1 · sink_waits_iterative");
  EXPECT_EQ(model_.item_count_text(count), QString("%1 decisions").arg(count));
  EXPECT_EQ(model_.item_count_text(1), QString("1 of %1 decisions").arg(count));
}

TEST_F(DecisionModelTest, EveryColumnIsSearched) {
  const int row = model_.row_of(snapshot_->graph.find("v1"));
  ASSERT_GE(row, 0);
  for (const int column :
       {DecisionModel::node_column, DecisionModel::action_column, DecisionModel::reason_column,
        DecisionModel::effect_column, DecisionModel::step_column}) {
    const QString text = model_.text(row, column);
    ASSERT_FALSE(text.isEmpty()) << column;
    model_.set_filter(text.section(u' ', -1).toUpper());
    EXPECT_TRUE(model_.index_of(row).isValid()) << text.toStdString();
  }
  model_.set_filter("v1 no_such_word");
  EXPECT_EQ(model_.rowCount(), 0);
  model_.set_filter({});
  EXPECT_EQ(model_.rowCount(), model_.row_count());
}

TEST_F(DecisionModelTest, FiltersByActionAndByNodes) {
  const auto& [action, count] = model_.list().actions.front();
  for (std::size_t i = 1; i < model_.list().actions.size(); ++i)
    EXPECT_GE(model_.list().actions[i - 1].second, model_.list().actions[i].second);
  model_.show_action(action);
  EXPECT_EQ(model_.rowCount(), static_cast<int>(count));
  for (const QString& shown_action : shown(DecisionModel::action_column))
    EXPECT_EQ(shown_action.toStdString(), action);
  model_.show_action({});
  model_.show_nodes(std::unordered_set<std::string>{"v0"});
  ASSERT_GT(model_.rowCount(), 0);
  for (const QString& name : shown()) EXPECT_EQ(name, "v0");
  model_.show_nodes(std::nullopt);
  EXPECT_EQ(model_.rowCount(), model_.row_count());
}

TEST_F(DecisionModelTest, RowsSelectNodesOfTheShownGraph) {
  const int row = model_.row_of(snapshot_->graph.find("v0"));
  ASSERT_EQ(model_.nodes(row).size(), 1U);
  EXPECT_EQ(snapshot_->graph.name(model_.nodes(row).front()), "v0");
  // Another state, with other ids and without one of the nodes.
  const SnapshotPtr other = test::snapshot_of(R"(
    v0: f32[4] = input
    return [v0]
  )");
  model_.set_shown(other);
  EXPECT_EQ(other->graph.name(model_.nodes(row).front()), "v0");
  int gone = 0;
  while (model_.text(gone, DecisionModel::node_column) != "v1") ++gone;
  EXPECT_TRUE(model_.nodes(gone).empty());
  EXPECT_FALSE(model_.note(gone, DecisionModel::node_column).isEmpty());
}

TEST_F(DecisionModelTest, IsExported) {
  const std::vector<int> rows = shown_rows(model_);
  const QStringList tsv = model_.tsv(rows).split(u'\n');
  EXPECT_EQ(tsv.front(), "node\taction\treason\teffect\tstep");
  EXPECT_EQ(tsv.size(), static_cast<qsizetype>(rows.size()) + 2);
  const QString csv = table_csv(model_, rows);
  EXPECT_TRUE(csv.startsWith("node,action,reason,effect,step\r\n"));
  EXPECT_TRUE(csv.contains("\"")) << "sentences have commas";
}

// Filtering, choosing an action and sorting are fast with 10^5 rows.
TEST(DecisionModelSpeed, FiltersManyRowsQuickly) {
  auto result = std::make_shared<StepResult>();
  result->step = "apply_sac";
  constexpr int kMany = 100000;
  for (int i = 0; i < kMany; ++i)
    result->decisions.push_back(
        {"apply_sac", "node_" + std::to_string(i * 7919 % kMany), i % 3 == 0 ? "saved" : "kept",
         "The list of operators to save has it, number " + std::to_string(i),
         i % 3 == 0 ? "policy MUST_SAVE" : ""});
  DecisionModel model;
  const SnapshotPtr snapshot = test::snapshot_of(test::kCollectives);
  model.set(list_decisions({{nullptr, result}}), snapshot);
  QElapsedTimer timer;
  timer.start();
  model.set_filter("saved NODE_4");
  const qint64 filter_ms = timer.restart();
  EXPECT_GT(model.rowCount(), 1000);
  model.show_action("kept");
  EXPECT_EQ(model.rowCount(), 0);
  model.set_filter({});
  model.show_action({});
  timer.restart();
  model.sort(DecisionModel::node_column);
  const qint64 sort_ms = timer.elapsed();
  EXPECT_EQ(model.text(TableModel::row_at(model.index(42, 0)), 0), "node_42");
  RecordProperty("filter_ms", static_cast<int>(filter_ms));
  RecordProperty("sort_ms", static_cast<int>(sort_ms));
  EXPECT_LT(filter_ms, 500) << "with a large margin for slow machines";
  EXPECT_LT(sort_ms, 3000);
}

}  // namespace
}  // namespace jointer::views
