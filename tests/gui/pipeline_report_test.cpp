// Tests the report of a pipeline step with real events: rows, links and filters, and the
// inspector's explanation of a node's position.

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QHeaderView>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTextDocumentFragment>
#include <QTimer>

#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/snapshots.h"
#include "tests/views/pipeline/report/reports.h"
#include "views/inspector/inspector_pane.h"
#include "views/inspector/why_here.h"
#include "views/pipeline/report/report_summary.h"
#include "views/pipeline/report/step_report.h"
#include "views/session/edit/editing.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/tables/table_export.h"

namespace jointer::views {
namespace {

using test::child;

using test::kPatienceMs;
constexpr QSize kReportSize(900, 620);

void click(TableView& view, int row, int column = 0) {
  const auto& model = *static_cast<TableModel*>(view.model());
  const QModelIndex index = model.index_of(row, column);
  view.scrollTo(index);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(index).center());
}

// Follows the first link of a label by keyboard.
void follow_link(QLabel& label, int number = 0) {
  label.setFocus();
  for (int i = 0; i <= number; ++i) QTest::keyClick(&label, Qt::Key_Tab);
  QTest::keyClick(&label, Qt::Key_Return);
}

QString shown_text(const QLabel& label) {
  return QTextDocumentFragment::fromHtml(label.text()).toPlainText();
}

}  // namespace

class PipelineReportTest : public QObject {
  Q_OBJECT

 private:
  [[nodiscard]] NodeId node(const char* name) const { return document_->graph().find(name); }
  [[nodiscard]] Selection& selection() const { return document_->selection(); }
  [[nodiscard]] QString current() const {
    return selection().current() ? to_qstring(document_->graph().name(selection().current()))
                                 : QString();
  }
  [[nodiscard]] Editing& editing() const { return document_->editing(); }
  bool settle() {
    return QTest::qWaitFor([this] { return editing().is_settled(); }, kPatienceMs);
  }
  // Runs a pipeline on the shown graph and shows its report.
  bool report(const char* pipeline) {
    steps_ = test::reported(document_->graph(), pipeline);
    QSignalSpy shown(report_.get(), &StepReport::shown);
    report_->show_steps(steps_);
    return !shown.isEmpty() || shown.wait(kPatienceMs);
  }
  // Adds one history entry per step, like the pipeline pane.
  bool apply() {
    for (const ReportedStep& step : steps_)
      if (!step.result->edit.changes.empty()) editing().apply(step.result->edit);
    return settle();
  }
  [[nodiscard]] QLabel& label(const char* name) const { return child<QLabel>(*report_, name); }
  [[nodiscard]] QTabWidget& pages() const { return child<QTabWidget>(*report_); }
  [[nodiscard]] static QString footer(const TablePane& pane) {
    return child<QLabel>(pane, "footer").text();
  }
  [[nodiscard]] int decision_about(const char* name) const {
    return report_->decisions().model().row_of(node(name));
  }

  std::unique_ptr<Document> document_;
  std::unique_ptr<StepReport> report_;
  std::vector<ReportedStep> steps_;

 private slots:
  void init() {
    document_ = std::make_unique<Document>(OpenRequest{}, test::snapshot_of(test::kCollectives));
    report_ = std::make_unique<StepReport>(*document_);
    report_->resize(kReportSize);
    report_->show();
    QVERIFY(QTest::qWaitForWindowExposed(report_.get()));
  }
  void cleanup() {
    report_.reset();
    document_.reset();
  }

  void shows_the_result_of_a_step() {
    QVERIFY(report("sink_waits_iterative"));
    const StepResult& step = *steps_[0].result;
    QVERIFY(step.moved > 0);
    QCOMPARE(shown_text(label("counts")), QString("%1 moved").arg(step.moved));
    const QString figures = shown_text(label("figures"));
    for (const char* name : {"Peak memory", "Exposed", "Step", "Communication"})
      QVERIFY2(figures.contains(name), qPrintable(figures));
    QVERIFY(figures.contains(
        time_difference_text(step.before.figures.exposed_ns, step.after.figures.exposed_ns)));
    QCOMPARE(pages().tabText(0), QString("Changes (%1)").arg(step.moved));
    // In a low pane the numbers are one line.
    report_->resize(380, 360);
    QTRY_COMPARE(label("brief").text(),
                 QStringList({figures_difference_text(step.before.figures, step.after.figures),
                              report_effort(report_->steps())})
                     .join(" · "));
    QVERIFY(label("brief").isVisible() && !label("figures").isVisible());
    // Rows are readable in a window of 1280 by 800 as well.
    report_->resize(300, 190);
    const TableView& rows = report_->changes().view();
    QTRY_VERIFY(rows.viewport()->height() >= 2 * rows.fontMetrics().lineSpacing());
    report_->resize(kReportSize);
    QTRY_VERIFY(label("figures").isVisible() && !label("brief").isVisible());
    QCOMPARE(report_->tables().size(), 1U);
    // Empty again.
    report_->clear();
    QTRY_VERIFY_WITH_TIMEOUT(!pages().isVisible(), kPatienceMs);
  }

  void decisions_and_nodes_select_each_other() {
    QVERIFY(report("sink_waits_iterative"));
    pages().setCurrentWidget(&report_->decisions());
    TableView& view = report_->decisions().view();
    const QAbstractItemModelTester tester(&report_->decisions().model());
    QVERIFY(decision_about("v1") >= 0);
    click(view, decision_about("v1"), DecisionModel::reason_column);
    QCOMPARE(current(), "v1");
    selection().select(node("v0"));
    QCOMPARE(view.selected_rows(), std::vector{decision_about("v0")});
    // A node without decisions.
    selection().select(node("x"));
    QVERIFY(view.selected_rows().empty());
  }

  void decisions_are_searched_and_filtered() {
    QVERIFY(report("sink_waits_iterative,sink_waits"));
    DecisionTable& table = report_->decisions();
    pages().setCurrentWidget(&table);
    auto& filter = child<QLineEdit>(table, "filter");
    auto& actions = child<QComboBox>(table, "actions");
    auto& selected = child<QToolButton>(table, "selected");
    const int all = table.model().row_count();
    QVERIFY(!table.view().isColumnHidden(DecisionModel::step_column));
    QCOMPARE(footer(table), QString("%1 decisions").arg(all));
    QTest::keyClicks(&filter, "V1");
    const int some = table.model().rowCount();
    QVERIFY(some > 0 && some < all);
    QCOMPARE(footer(table), QString("%1 of %2 decisions").arg(some).arg(all));
    filter.clear();
    // Filter by action: the box is opened by key.
    actions.setFocus();
    QTest::keyClick(&actions, Qt::Key_Down);
    const auto& [action, count] = table.model().list().actions.front();
    QCOMPARE(table.model().action(), action);
    QCOMPARE(table.model().rowCount(), static_cast<int>(count));
    QTest::keyClick(&actions, Qt::Key_Up);
    // Filter by the selected nodes.
    selection().select(node("v0"));
    QTest::mouseClick(&selected, Qt::LeftButton);
    const std::vector<int> about = shown_rows(table.model());
    QVERIFY(!about.empty());
    for (const int row : about) QCOMPARE(table.model().text(row, 0), "v0");
    selection().select(node("v1"));
    for (const int row : shown_rows(table.model())) QCOMPARE(table.model().text(row, 0), "v1");
    selection().select(node("x"));
    QCOMPARE(table.model().rowCount(), 0);
    const auto labels = table.view().viewport()->findChildren<QLabel*>();
    QCOMPARE(labels.size(), 1);
    QVERIFY(labels.front()->isVisible());
    QCOMPARE(labels.front()->text(), "No decisions match the action and the selected nodes.");
    QTest::mouseClick(&selected, Qt::LeftButton);
    QCOMPARE(table.model().rowCount(), all);
  }

  void counts_link_to_their_nodes() {
    QVERIFY(report("greedy_bucketing_by_mb"));
    const StepResult& step = *steps_[0].result;
    QVERIFY(step.added > 0 && step.removed > 0);
    pages().setCurrentWidget(&report_->decisions());
    const QStringList counts = shown_text(label("counts")).split(QStringLiteral(" · "));
    const auto added = counts.indexOf(QString("%1 added").arg(step.added));
    QVERIFY2(added >= 0, qPrintable(counts.join(", ")));
    follow_link(label("counts"), static_cast<int>(added));
    QCOMPARE(pages().currentWidget(), &report_->changes());
    QCOMPARE(report_->changes().model().rowCount(), static_cast<int>(step.added));
    QCOMPARE(report_->changes().model().text(shown_rows(report_->changes().model()).front(), 0),
             "added");
    child<QComboBox>(report_->changes(), "kinds").setCurrentIndex(0);
    QCOMPARE(report_->changes().model().rowCount(), report_->changes().model().row_count());
  }

  // Without decisions about the merged collectives, a link would show those about other nodes.
  void merged_collectives_link_only_to_decisions_about_them() {
    QVERIFY(report("greedy_bucketing_by_mb"));
    QVERIFY(report_->decisions().has_action("merged"));
    QVERIFY(shown_text(label("counts")).contains("2 collectives merged"));
    QVERIFY(label("counts").text().contains("href=\"merged\""));
    StepResult silent = *steps_[0].result;
    std::erase_if(silent.decisions, [](const Decision& each) { return each.action == "merged"; });
    steps_[0].result = std::make_shared<const StepResult>(std::move(silent));
    QSignalSpy shown(report_.get(), &StepReport::shown);
    report_->show_steps(steps_);
    QVERIFY(!shown.isEmpty() || shown.wait(kPatienceMs));
    QVERIFY(!report_->decisions().has_action("merged"));
    QVERIFY(shown_text(label("counts")).contains("2 collectives merged"));
    QVERIFY(!label("counts").text().contains("href=\"merged\""));
  }

  void missing_nodes_link_to_their_state() {
    QVERIFY(report("greedy_bucketing_by_mb"));
    QVERIFY(apply());
    QVERIFY(!node("g0"));
    pages().setCurrentWidget(&report_->changes());
    DifferenceModel& changes = report_->changes().model();
    changes.show_only(NodeChange::removed);
    int gone = -1;
    for (const int row : shown_rows(changes))
      if (changes.text(row, DifferenceModel::node_column) == "g0") gone = row;
    QVERIFY(gone >= 0);
    selection().select(node("a"));
    click(report_->changes().view(), gone, DifferenceModel::node_column);
    QCOMPARE(current(), "a");
    QVERIFY(label("notice").isVisible());
    QVERIFY2(shown_text(label("notice"))
                 .startsWith("g0 is not in the current graph: greedy_bucketing_by_mb removed it"),
             qPrintable(label("notice").text()));
    follow_link(label("notice"));
    QVERIFY(QTest::qWaitFor([this] { return current() == "g0"; }, kPatienceMs));
    QCOMPARE(editing().place(), 0);
    QVERIFY(!label("notice").isVisible());
    // From there, nodes that the step adds are missing.
    changes.show_only(NodeChange::added);
    const int added = shown_rows(changes).front();
    const QString name = changes.text(added, DifferenceModel::node_column);
    click(report_->changes().view(), added, DifferenceModel::node_column);
    QVERIFY(shown_text(label("notice")).contains("added it"));
    follow_link(label("notice"));
    QVERIFY(QTest::qWaitFor([&] { return current() == name; }, kPatienceMs));
    QCOMPARE(editing().place(), 1);
  }

  void tables_of_passes_sort_and_add_up() {
    QVERIFY(report("sink_waits_iterative"));
    PassTablePane& pane = *report_->tables().at(0);
    pages().setCurrentWidget(&pane);
    PassTableModel& model = pane.model();
    const QAbstractItemModelTester tester(&model);
    int improvement = 0;
    while (model.columns()[static_cast<std::size_t>(improvement)].title != "improvement")
      ++improvement;
    QHeaderView* header = pane.view().header();
    pane.view().scrollTo(model.index(0, improvement));
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {},
                      {header->sectionViewportPosition(improvement) + 10, header->height() / 2});
    QCOMPARE(header->sortIndicatorSection(), improvement);
    pane.view().setFocus();
    QTest::keyClick(&pane.view(), Qt::Key_A, Qt::ControlModifier);
    QCOMPARE(selection().nodes().size(), static_cast<std::size_t>(model.row_count()));
    std::int64_t sum = 0;
    for (int row = 0; row < model.row_count(); ++row) sum += *model.number(row, improvement);
    QVERIFY2(footer(pane).contains(time_text(sum) + " improvement"), qPrintable(footer(pane)));
    QTest::keyClick(&pane.view(), Qt::Key_C, Qt::ControlModifier);
    QCOMPARE(QApplication::clipboard()->text(), model.tsv(pane.view().selected_rows()));
  }

  void titles_of_tables_may_contain_an_ampersand() {
    QVERIFY(report("sink_waits_iterative"));
    StepResult result = *steps_.front().result;
    result.tables.front().title = "time & memory";
    steps_.front().result = std::make_shared<const StepResult>(std::move(result));
    QSignalSpy shown(report_.get(), &StepReport::shown);
    report_->show_steps(steps_);
    QVERIFY(!shown.isEmpty() || shown.wait(kPatienceMs));
    QCOMPARE(pages().tabText(pages().indexOf(report_->tables().at(0))), "time && memory");
  }

  void visible_rows_are_saved() {
    QVERIFY(report("sink_waits_iterative"));
    pages().setCurrentWidget(&report_->decisions());
    QTemporaryDir folder;
    const QString path = folder.filePath("decisions.csv");
    QTimer::singleShot(0, this, [&] {
      auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
      QVERIFY(dialog != nullptr);
      dialog->setDirectory(folder.path());
      dialog->selectNameFilter(dialog->nameFilters().last());
      dialog->selectFile(path);
      QMetaObject::invokeMethod(dialog, "accept");
    });
    QTest::keyClicks(&child<QLineEdit>(report_->decisions(), "filter"), "v");
    auto* rows = pages().cornerWidget()->findChild<QToolButton*>();
    QVERIFY(rows != nullptr && rows->menu() != nullptr);
    for (QAction* action : rows->menu()->actions())
      if (action->text().startsWith("Save")) action->trigger();
    QFile file(path);
    QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(path));
    const QString text = QString::fromUtf8(file.readAll());
    QVERIFY(text.startsWith("node,action,reason,effect,step\r\n"));
    QCOMPARE(text.count("\r\n"), report_->decisions().model().rowCount() + 1);
  }

  void inspector_explains_why() {
    InspectorPane inspector(*document_);
    inspector.resize(420, 500);
    inspector.show();
    QVERIFY(QTest::qWaitForWindowExposed(&inspector));
    selection().select(node("v1"));
    QVERIFY(inspector.content().sections.front().title != why_title());
    QVERIFY(report("sink_waits_iterative"));
    QVERIFY(apply());
    const InspectorSection section = inspector.content().sections.front();
    QCOMPARE(section.title, why_title());
    QVERIFY(section.rows.front().value.startsWith("moved by sink_waits_iterative. "));
    QVERIFY(inspector.page().toPlainText().contains("Effect: "));
    // Undo removes it, redo restores it.
    editing().undo();
    QVERIFY(settle());
    QVERIFY(inspector.content().sections.front().title != why_title());
    editing().redo();
    QVERIFY(settle());
    QCOMPARE(inspector.content().sections.front().title, why_title());
    // A workspace contains it.
    const History history = editing().history();
    QCOMPARE(history.entries.back().edits.back().decisions, steps_[0].result->edit.decisions);
    // Nodes that no edit names are explained only on request.
    selection().select(node("x"));
    QVERIFY(inspector.content().sections.front().title != why_title());
    inspector.ask_why();
    QCOMPARE(inspector.content().sections.front().title, why_title());
    QCOMPARE(inspector.content().sections.front().rows.front().value, "No edit changed this node.");
    selection().select(node("a"));
    QVERIFY(inspector.content().sections.front().title != why_title());
  }
};

}  // namespace jointer::views

JOINTER_GUI_TEST(jointer::views::PipelineReportTest, "pipeline_report")
#include "pipeline_report_test.moc"
