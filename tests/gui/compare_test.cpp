// Tests comparisons of different documents: a joint graph with its pair, with another capture of
// the same model, and with files that are not open.

#include <QFile>
#include <QMessageBox>
#include <QPushButton>

#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/support/child.h"
#include "tests/support/held_pool.h"
#include "views/compare/compare_pane.h"
#include "views/compare/curve_overlay.h"
#include "views/differences/plan_difference_table.h"
#include "views/session/text/node_text.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kPair;
using test::kPatienceMs;
using test::kSample;

}  // namespace

class CompareTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }

  void a_joint_graph_is_compared_with_its_pair();
  void states_of_another_capture_can_be_chosen();
  void all_states_are_in_one_table();
  void a_hidden_pane_forgets_closed_documents();
  void files_that_are_not_open_are_compared();
  void a_state_is_compared_with_itself_as_the_compiler_runs_it();
  void curves_are_shown_unless_only_the_plans_differ();
  void a_long_comparison_is_cancelled();

 private:
  ComparePane* show_comparison() {
    auto* pane = show_pane<ComparePane>("compare");
    const auto has_result = [pane] { return pane->comparison() != nullptr; };
    return pane != nullptr && QTest::qWaitFor(has_result, kPatienceMs) ? pane : nullptr;
  }
  // Chooses an entry with the arrow keys, and waits for the comparison.
  static bool choose(ComparePane& pane, const char* box_name, const QString& entry) {
    auto& box = child<QComboBox>(pane, box_name);
    const int index = box.findText(entry);
    if (index < 0) return false;
    QSignalSpy compared(&pane, &ComparePane::compared);
    box.setFocus();
    while (box.currentIndex() != index)
      QTest::keyClick(&box, box.currentIndex() < index ? Qt::Key_Down : Qt::Key_Up);
    const bool is_from = QLatin1String(box_name) == QLatin1String("from");
    return QTest::qWaitFor(
        [&] {
          if (compared.isEmpty() || pane.comparison() == nullptr) return false;
          const QString name = (is_from ? pane.comparison()->from : pane.comparison()->to).name;
          return name.startsWith(entry);
        },
        kPatienceMs);
  }
};

void CompareTest::a_joint_graph_is_compared_with_its_pair() {
  QVERIFY(open(kPair));
  const QString pair_title = document().title();
  const std::int64_t peak = document().analysis().memory.peak_bytes();
  QVERIFY(open(kSample));
  ComparePane* pane = show_comparison();
  QVERIFY(pane != nullptr);
  QVERIFY(choose(*pane, "from", pair_title + ": now"));
  const Comparison& found = *pane->comparison();
  QVERIFY(found.to.name.endsWith("as partitioned"));
  QVERIFY(found.to.snapshot->graph.is_pair());
  QCOMPARE(found.from.snapshot->analysis.memory.peak_bytes(), peak);
  // It is the pair that torch made of this graph.
  const GraphDifference& nodes = found.nodes->difference();
  QVERIFY2(nodes.added.empty() && nodes.removed.empty(), qPrintable(pane->summary()));
  QVERIFY(found.plan == nullptr);

  // With another plan, the pair differs, and the changes of the plan are listed.
  QVERIFY(recompute_all());
  QTRY_VERIFY_WITH_TIMEOUT(pane->comparison() != nullptr && pane->comparison()->plan, kPatienceMs);
  const Comparison& changed = *pane->comparison();
  QVERIFY(!changed.nodes->difference().added.empty());
  QCOMPARE(changed.plan->to.saved_bytes, figures().saved_bytes);
  auto& table = child<PlanDifferenceTable>(*pane);
  auto& model = *static_cast<PlanDifferenceModel*>(table.view().model());
  // A click selects the nodes in the joint graph.
  auto& tabs = child<QTabWidget>(*pane, "tables");
  QTest::mouseClick(tabs.tabBar(), Qt::LeftButton, {}, tabs.tabBar()->tabRect(1).center());
  QTRY_VERIFY(table.isVisible() && model.row_count() > 0);
  QCOMPARE(model.totals().by_column[PlanDifferenceModel::saved_column].value_or(0),
           changed.plan->to.saved_bytes - changed.plan->from.saved_bytes);
  document().selection().clear();
  TableView& view = table.view();
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {},
                    view.visualRect(model.index(0, 0)).center());
  QVERIFY(document().selection().current());
}

void CompareTest::states_of_another_capture_can_be_chosen() {
  // Another file with the same graph, as from another run.
  const std::string copy = folder_->filePath("other.json.zst").toStdString();
  QVERIFY(QFile::copy(QString::fromStdString(test::source_path(kSample)),
                      QString::fromStdString(copy)));
  QVERIFY(open_path(copy));
  QVERIFY(recompute_all());
  const PlanFigures other = figures();
  QVERIFY(open(kSample));
  const QString title = document().title() + QStringLiteral(": ");
  ComparePane* pane = show_comparison();
  QVERIFY(pane != nullptr);
  QVERIFY(choose(*pane, "from", title + "as opened"));
  QVERIFY(pane->comparison()->plan == nullptr);
  QCOMPARE(pane->summary(), QStringLiteral("The nodes and their order are the same."));
  // The history of the other document is listed too.
  auto& from = child<QComboBox>(*pane, "from");
  QVERIFY(choose(*pane, "from", from.itemText(from.count() - 1)));
  QVERIFY2(pane->comparison()->from.name.contains(title + "after 1: "),
           qPrintable(pane->comparison()->from.name));
  QVERIFY(pane->comparison()->plan != nullptr);
  QCOMPARE(pane->comparison()->plan->from.saved_bytes, other.saved_bytes);
  QCOMPARE(pane->comparison()->plan->to.saved_bytes, figures().saved_bytes);
  QVERIFY2(pane->summary().contains("recomputed → saved"), qPrintable(pane->summary()));

  // Without the other document, the comparison is again that of this one.
  auto& documents = child<QTabBar>(*window_, "documents");
  QTest::mouseClick(documents.tabButton(0, QTabBar::RightSide), Qt::LeftButton);
  auto& question = child<QMessageBox>(*window_, "unsaved_changes");
  QTest::mouseClick(question.button(QMessageBox::Discard), Qt::LeftButton);
  QTRY_COMPARE(test::tab_count(*window_), 1);
  QTRY_VERIFY_WITH_TIMEOUT(from.findText(title, Qt::MatchStartsWith) < 0, kPatienceMs);
  QTRY_COMPARE_WITH_TIMEOUT(pane->comparison()->from.name, QStringLiteral("as opened"),
                            kPatienceMs);
}

void CompareTest::all_states_are_in_one_table() {
  QVERIFY(open(kPair));
  const std::int64_t pair_peak = document().analysis().memory.peak_bytes();
  QVERIFY(open(kSample));
  QVERIFY(recompute_all());
  ComparePane* pane = show_comparison();
  QVERIFY(pane != nullptr);
  auto& tabs = child<QTabWidget>(*pane, "tables");
  auto& table = child<StateTable>(*pane);
  const int tab = tabs.indexOf(&table);
  QTest::mouseClick(tabs.tabBar(), Qt::LeftButton, {}, tabs.tabBar()->tabRect(tab).center());
  const auto& model = *static_cast<const StateTableModel*>(table.view().model());
  const auto peak = [&](int row) { return model.number(row, StateTableModel::peak_column); };
  const auto all_are_known = [&] {
    for (int row = 0; row < model.row_count(); ++row)
      if (!peak(row)) return false;
    return true;
  };
  // As opened, now, after the edit, and the two states of the pair.
  QTRY_COMPARE_WITH_TIMEOUT(model.row_count(), 5, kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(all_are_known(), kPatienceMs);
  // The joint graph has the numbers of its pair; torch's pair is the result of its first plan.
  QCOMPARE(peak(0), std::optional(pair_peak));
  QCOMPARE(peak(3), std::optional(pair_peak));
  QCOMPARE(peak(1), std::optional(figures().figures.peak_bytes));
  QCOMPARE(peak(2), peak(1));
  QCOMPARE(model.number(0, StateTableModel::peak_change_column), std::optional<std::int64_t>(0));
  QVERIFY(model.number(1, StateTableModel::peak_change_column) != 0);

  // Enter compares a state with the first one.
  table.view().setFocus();
  table.view().setCurrentIndex(model.index_of(4));
  QTest::keyClick(&table.view(), Qt::Key_Return);
  const QString name = model.text(4, StateTableModel::name_column);
  QTRY_VERIFY_WITH_TIMEOUT(pane->comparison() != nullptr && pane->comparison()->to.name == name,
                           kPatienceMs);
  QCOMPARE(tabs.currentIndex(), 0);
}

void CompareTest::a_hidden_pane_forgets_closed_documents() {
  QVERIFY(open(kPair));
  QVERIFY(open(kSample));
  ComparePane* pane = show_comparison();
  QVERIFY(pane != nullptr);
  auto& tabs = child<QTabWidget>(*pane, "tables");
  const auto& table = child<StateTable>(*pane);
  tabs.setCurrentIndex(tabs.indexOf(&table));
  const auto& model = *static_cast<const StateTableModel*>(child<StateTable>(*pane).view().model());
  // As opened and now, of both documents.
  QTRY_COMPARE_WITH_TIMEOUT(model.row_count(), 4, kPatienceMs);
  window_->dock("compare")->hide();
  auto& documents = child<QTabBar>(*window_, "documents");
  QTest::mouseClick(documents.tabButton(0, QTabBar::RightSide), Qt::LeftButton);
  QTRY_COMPARE(test::tab_count(*window_), 1);
  QTRY_COMPARE(child<QComboBox>(*pane, "from").count(), 2);
  window_->dock("compare")->show();
  window_->dock("compare")->raise();
  QTRY_COMPARE_WITH_TIMEOUT(model.row_count(), 2, kPatienceMs);
}

void CompareTest::files_that_are_not_open_are_compared() {
  const QString copy = folder_->filePath("other.json.zst"), damaged = folder_->filePath("bad.json");
  QVERIFY(QFile::copy(QString::fromStdString(test::source_path(kSample)), copy));
  QFile file(damaged);
  QVERIFY(file.open(QFile::WriteOnly) && file.write("{") == 1);
  file.close();
  QVERIFY(open(kSample));
  QVERIFY(recompute_all());
  ComparePane* pane = show_comparison();
  QVERIFY(pane != nullptr);
  auto& button = child<QPushButton>(*pane, "files");
  auto& from = child<QComboBox>(*pane, "from");

  test::answer_file_dialog(copy);
  test::press(button);
  QCOMPARE(from.currentText(), QStringLiteral("file “other.json.zst”"));
  QTRY_VERIFY_WITH_TIMEOUT(
      pane->comparison() && pane->comparison()->from.name == from.currentText(), kPatienceMs);
  QCOMPARE(pane->comparison()->to.name, QStringLiteral("now"));
  QCOMPARE(pane->comparison()->from.snapshot->analysis.memory.peak_bytes(),
           document().baseline()->analysis.memory.peak_bytes());
  QVERIFY(pane->comparison()->plan != nullptr);
  QCOMPARE(pane->comparison()->plan->to.saved_bytes, figures().saved_bytes);
  QCOMPARE(test::tab_count(*window_), 1);

  // The file stays in the list when the graph changes.
  window_->activateWindow();
  QVERIFY(QTest::qWaitForWindowActive(window_.get()));
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_VERIFY_WITH_TIMEOUT(pane->comparison() && pane->comparison()->plan == nullptr, kPatienceMs);
  QCOMPARE(pane->summary(), QStringLiteral("The nodes and their order are the same."));
  QCOMPARE(from.currentText(), QStringLiteral("file “other.json.zst”"));

  test::answer_file_dialog(damaged);
  test::press(button);
  QTRY_VERIFY_WITH_TIMEOUT(pane->summary().contains("bad.json"), kPatienceMs);
  QVERIFY(pane->comparison() == nullptr);
  // There is nothing to copy.
  for (const char* name : {"markdown", "tsv"})
    QVERIFY(!child<QPushButton>(*pane, name).isEnabled());
  QVERIFY(choose(*pane, "from", QStringLiteral("as opened")));
  for (const char* name : {"markdown", "tsv"}) QVERIFY(child<QPushButton>(*pane, name).isEnabled());
}

void CompareTest::a_state_is_compared_with_itself_as_the_compiler_runs_it() {
  QVERIFY(open(kPair));
  ComparePane* pane = show_comparison();
  QVERIFY(pane != nullptr);
  // One choice.
  test::choose(child<QComboBox>(*pane, "second_execution"), "Inductor");
  const auto is_compiled = [pane] {
    return pane->comparison() != nullptr &&
           pane->comparison()->to.snapshot->analysis.options.execution == Execution::inductor;
  };
  QTRY_VERIFY_WITH_TIMEOUT(is_compiled(), kPatienceMs);
  const Comparison& found = *pane->comparison();
  QCOMPARE(found.from.name, QStringLiteral("now"));
  QCOMPARE(found.to.name, QStringLiteral("now, as Inductor runs it"));
  QCOMPARE(found.from.snapshot->analysis.simulation.step_ns(),
           document().analysis().simulation.step_ns());
  QVERIFY(found.to.snapshot->analysis.simulation.compute_ns() <
          found.from.snapshot->analysis.simulation.compute_ns());
  QVERIFY(found.nodes->nodes().empty());
  // The document itself stays as it is.
  QVERIFY(document().analysis().options.execution == Execution::eager);
  // Any other first state can be chosen.
  QVERIFY(choose(*pane, "from", QStringLiteral("as opened")));
  QVERIFY(is_compiled());
  // It stays when the execution changes.
  test::choose(child<QComboBox>(*pane, "second_execution"), "regional");
  QCOMPARE(child<QComboBox>(*pane, "from").currentText(), QStringLiteral("as opened"));
}

void CompareTest::curves_are_shown_unless_only_the_plans_differ() {
  QVERIFY(open(kSample));
  ComparePane* pane = show_comparison();
  QVERIFY(pane != nullptr);
  window_->resizeDocks({window_->dock("compare")}, {500}, Qt::Vertical);
  const auto& curves = child<CurveOverlay>(*pane);
  QTRY_VERIFY(!curves.isHidden());
  // The nodes of a joint graph run in the same way with any plan.
  QVERIFY(recompute_all());
  const auto has_plan = [pane] {
    return pane->comparison() != nullptr && pane->comparison()->plan != nullptr;
  };
  QTRY_VERIFY_WITH_TIMEOUT(has_plan(), kPatienceMs);
  QVERIFY(curves.isHidden());
  // Compiled code has another curve.
  test::choose(child<QComboBox>(*pane, "second_execution"), "Inductor");
  QVERIFY(choose(*pane, "from", QStringLiteral("as opened")));
  QTRY_VERIFY_WITH_TIMEOUT(has_plan(), kPatienceMs);
  QVERIFY(pane->comparison()->to.snapshot->analysis.options.execution == Execution::inductor);
  QVERIFY(!curves.isHidden());
}

void CompareTest::a_long_comparison_is_cancelled() {
  QVERIFY(open(kSample));
  ComparePane* pane = show_comparison();
  QVERIFY(pane != nullptr);
  const auto& cancel = child<QPushButton>(*pane, "cancel_comparison");
  QVERIFY(!cancel.isVisible());
  auto& execution = child<QComboBox>(*pane, "second_execution");
  {
    const test::HeldPool pool;
    test::choose(execution, "Inductor");
    QTRY_VERIFY(cancel.isVisible());
    QTest::mouseClick(&child<QPushButton>(*pane, "cancel_comparison"), Qt::LeftButton);
  }
  QTRY_VERIFY2(pane->summary().startsWith("The comparison was cancelled"),
               qPrintable(pane->summary()));
  QVERIFY(!cancel.isVisible());
  QVERIFY(pane->comparison() == nullptr);
  // Another choice compares again.
  test::choose(execution, "eager");
  QTRY_VERIFY_WITH_TIMEOUT(pane->comparison() != nullptr, kPatienceMs);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::CompareTest, "compare")
#include "compare_test.moc"
