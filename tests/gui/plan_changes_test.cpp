// Tests that changes of a plan are shown by the SAC, History and Compare panes: lines, columns,
// tables and the selection.

#include <QAbstractItemModelTester>
#include <QClipboard>

#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/support/child.h"
#include "views/compare/compare_pane.h"
#include "views/differences/plan_difference_table.h"
#include "views/history/history_pane.h"
#include "views/sac/changes_page.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kPatienceMs;
using test::kSample;

}  // namespace

class PlanChangesTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }

  void a_search_is_summarized_and_listed_data() { add_graphs(); }
  void a_search_is_summarized_and_listed();
  void history_has_the_figures_of_plans_data() { add_graphs(); }
  void history_has_the_figures_of_plans();
  void history_has_space_for_its_numbers();
  void states_are_compared_by_their_plans_data() { add_graphs(); }
  void states_are_compared_by_their_plans();

 private:
  static void add_graphs() {
    QTest::addColumn<QString>("file");
    QTest::newRow("joint graph") << QString(kSample);
    QTest::newRow("flat training step") << QString(test::kStep);
  }
  bool open_graph() {
    QFETCH(QString, file);
    return open(qPrintable(file));
  }
  static PlanDifferenceModel& model_of(PlanDifferenceTable& table) {
    return *static_cast<PlanDifferenceModel*>(table.view().model());
  }
  static std::int64_t total(PlanDifferenceTable& table, int column) {
    return model_of(table).totals().by_column[static_cast<std::size_t>(column)].value_or(0);
  }
};

void PlanChangesTest::a_search_is_summarized_and_listed() {
  QVERIFY(open_graph());
  const PlanFigures before = figures();
  auto& line = child<QLabel>(pane(), "last_change");
  QVERIFY(!line.isVisible());
  QVERIFY(recompute_all());
  QTRY_VERIFY_WITH_TIMEOUT(line.isVisible(), kPatienceMs);
  QVERIFY2(line.text().contains("values changed: ") && line.text().contains("saved → recomputed"),
           qPrintable(line.text()));

  test::press(button("show_changes"));
  auto& table = child<PlanDifferenceTable>(pane());
  QTRY_VERIFY(table.isVisible());
  QTRY_VERIFY_WITH_TIMEOUT(model_of(table).row_count() > 0, kPatienceMs);
  const QAbstractItemModelTester tester(&model_of(table));
  auto& grouping = child<QComboBox>(table, "plan_grouping");
  for (const int group : {0, 1, 2}) {
    grouping.setCurrentIndex(group);
    QCOMPARE(total(table, PlanDifferenceModel::saved_column),
             figures().saved_bytes - before.saved_bytes);
    QCOMPARE(total(table, PlanDifferenceModel::host_column),
             figures().offloaded_bytes - before.offloaded_bytes);
    QCOMPARE(total(table, PlanDifferenceModel::time_column),
             figures().recompute_ns - before.recompute_ns);
  }
  // A click selects the tensor in all panes.
  TableView& view = table.view();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                    view.visualRect(model_of(table).index(0, 0)).center());
  QCOMPARE(to_qstring(document().graph().name(document().selection().current())),
           model_of(table).text(0, PlanDifferenceModel::name_column));

  // Undo removes the line: no entry is left that changed the plan.
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_VERIFY_WITH_TIMEOUT(!line.isVisible(), kPatienceMs);
}

void PlanChangesTest::history_has_the_figures_of_plans() {
  QVERIFY(open_graph());
  const Figures before = figures().figures;
  QVERIFY(recompute_all());
  const Figures after = figures().figures;
  QVERIFY(before.peak_bytes > after.peak_bytes);
  auto* pane = show_pane<HistoryPane>("history");
  QVERIFY(pane != nullptr);
  const auto& model = *static_cast<HistoryModel*>(child<TableView>(*pane, "steps").model());
  QTRY_COMPARE_WITH_TIMEOUT(model.number(0, HistoryModel::peak_column), before.peak_bytes,
                            kPatienceMs);
  QTRY_COMPARE_WITH_TIMEOUT(model.number(1, HistoryModel::peak_column), after.peak_bytes,
                            kPatienceMs);
  QCOMPARE(model.number(1, HistoryModel::peak_change_column), after.peak_bytes - before.peak_bytes);
  QCOMPARE(model.number(1, HistoryModel::step_column), after.step_ns);
  QCOMPARE(model.number(1, HistoryModel::step_change_column), after.step_ns - before.step_ns);
}

// The numbers are computed after the pane is shown.
void PlanChangesTest::history_has_space_for_its_numbers() {
  QVERIFY(open(kSample));
  QVERIFY(recompute_all());
  HistoryPane pane(document());
  pane.resize(1'600, 600);  // enough for all columns
  pane.show();
  QVERIFY(QTest::qWaitForWindowExposed(&pane));
  const auto& view = child<TableView>(pane, "steps");
  const auto& model = *static_cast<HistoryModel*>(view.model());
  QTRY_VERIFY_WITH_TIMEOUT(model.number(1, HistoryModel::peak_change_column).has_value(),
                           kPatienceMs);
  QVERIFY(*model.number(1, HistoryModel::peak_change_column) < 0);
  // Not narrower than a long number with its sign.
  const int space =
      view.fontMetrics().horizontalAdvance(QChar(kMinus) + QStringLiteral("1,000 MiB"));
  QTRY_VERIFY(view.columnWidth(HistoryModel::peak_change_column) >= space + 18);
}

void PlanChangesTest::states_are_compared_by_their_plans() {
  QVERIFY(open_graph());
  const PlanFigures before = figures();
  QVERIFY(recompute_all());
  auto* pane = show_pane<ComparePane>("compare");
  QVERIFY(pane != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(pane->comparison() != nullptr && pane->comparison()->plan, kPatienceMs);
  QVERIFY2(pane->summary().contains("values changed: "), qPrintable(pane->summary()));
  const std::vector<MetricRow> rows = metric_rows(*pane->comparison());
  QVERIFY(rows.front().name.contains("peak memory"));
  QCOMPARE(rows.front().change, figures().figures.peak_bytes - before.figures.peak_bytes);
  auto& table = child<PlanDifferenceTable>(*pane);
  QVERIFY(table.isVisible());
  const QString title = table.model().columns().front().title;
  QCOMPARE(child<QComboBox>(table, "plan_grouping").itemText(2), "By " + title);
  QCOMPARE(total(table, PlanDifferenceModel::saved_column),
           figures().saved_bytes - before.saved_bytes);
  pane->copy_markdown();
  QVERIFY(QApplication::clipboard()->text().contains("| saved → recomputed | "));
  // A state differs from itself in nothing.
  auto& from = child<QComboBox>(*pane, "from");
  from.setCurrentIndex(1);
  emit from.activated(1);
  QTRY_VERIFY_WITH_TIMEOUT(pane->comparison() != nullptr && !pane->comparison()->plan, kPatienceMs);
  QVERIFY(!table.isVisible());
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::PlanChangesTest, "plan_changes")
#include "plan_changes_test.moc"
