// The Query pane with real events: running, errors, cancelling, selecting and exporting.

#include <QClipboard>
#include <QFile>
#include <QHeaderView>
#include <QMenu>
#include <QMessageBox>
#include <QSpinBox>
#include <QTest>
#include <QTextBlock>
#include <QToolButton>

#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "views/query/query_pane.h"
#include "views/query/schema_list.h"
#include "views/session/edit/editing.h"
#include "views/timeline/timeline_view.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kPatienceMs;

}  // namespace

class QueryTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() {
    QVERIFY(open_sample());
    pane_ = show_pane<QueryPane>("query");
    QVERIFY(pane_ != nullptr);
  }
  void cleanup() { close_window(); }

  void control_enter_runs_the_query_data() { add_sizes(); }
  void control_enter_runs_the_query();
  void no_line_is_cut_off_data() { control_enter_runs_the_query_data(); }
  void no_line_is_cut_off();
  void only_answers_are_exported();
  void a_row_selects_its_node();
  void rows_without_nodes_select_none();
  void the_menu_sorts_and_hides_columns();
  void says_what_is_wrong();
  void stops_a_query();
  void copies_and_saves_exact_values();
  void a_table_that_cannot_be_saved_is_reported();
  void examples_run();
  void rows_of_an_earlier_graph_say_so();

 private:
  [[nodiscard]] QueryEditor& editor() const { return child<QueryEditor>(*pane_); }
  [[nodiscard]] ResultTable& table() const { return child<ResultTable>(*pane_); }
  [[nodiscard]] QLabel& status() const { return child<QLabel>(*pane_, "status"); }
  [[nodiscard]] QToolButton& button(const char* name) const {
    return child<QToolButton>(*pane_, name);
  }
  void type(const QString& sql) const {
    editor().setFocus();
    editor().selectAll();
    QTest::keyClicks(&editor(), sql);
  }
  // Types a query, runs it, and waits for its end.
  bool run(const QString& sql) const {
    type(sql);
    QTest::keyClick(&editor(), Qt::Key_Return, Qt::ControlModifier);
    return QTest::qWaitFor([this] { return !button("cancel").isEnabled(); }, kPatienceMs);
  }

  QueryPane* pane_ = nullptr;
};

void QueryTest::control_enter_runs_the_query() {
  QFETCH(QSize, size);
  window_->resize(size);
  QVERIFY(
      run("SELECT operator, count(*) AS n, sum(ns) AS ns FROM nodes WHERE kind = 'call' GROUP "
          "BY operator"));
  QVERIFY2(status().text().contains("rows in"), qPrintable(status().text()));
  const QueryModel& model = table().model();
  std::int64_t calls = 0, ns = 0;
  for (const NodeId id : document().graph().order()) {
    if (document().graph().node(id).kind != NodeKind::call) continue;
    ++calls;
    ns += document().analysis().costs[id.index()].ns;
  }
  std::int64_t shown = 0;
  for (int row = 0; row < model.row_count(); ++row) shown += *model.number(row, 1);
  QCOMPARE(shown, calls);
  QCOMPARE(model.totals().by_column[2], ns);
  QCOMPARE(window_->size(), size);
  QVERIFY(pane_->rect().contains(editor().mapTo(pane_, editor().rect().bottomRight())));
  QVERIFY2(table().view().viewport()->height() > 60, "there is space for rows");
}

void QueryTest::no_line_is_cut_off() {
  QFETCH(QSize, size);
  window_->resize(size);
  QTest::qWait(50);
  const QStringList lines(40, QStringLiteral("SELECT 1"));
  editor().setPlainText(lines.join(u'\n'));
  // Also in panes of other heights.
  for (int less = 0; less < 20; ++less) {
    editor().resize(editor().width(), editor().height() - 1);
    const int bottom = editor().viewport()->height();
    for (QTextBlock line = editor().document()->begin(); line.isValid(); line = line.next()) {
      const QRect place = editor().cursorRect(QTextCursor(line));
      QVERIFY2(
          place.top() >= bottom || place.bottom() <= bottom,
          qPrintable(QStringLiteral("a line ends at %1 of %2").arg(place.bottom()).arg(bottom)));
    }
  }
}

void QueryTest::only_answers_are_exported() {
  QVERIFY(!button("copy").isEnabled() && !button("save").isEnabled());
  QVERIFY(run("SELECT nod FROM nodes"));
  QVERIFY(!button("copy").isEnabled() && !button("save").isEnabled());
  QVERIFY(run("SELECT 1"));
  QVERIFY(button("copy").isEnabled() && button("save").isEnabled());
  QCOMPARE(table().model().row_count(), 1);
  // The rows of an earlier query are not an answer to one that fails.
  QVERIFY(run("SELECT nod FROM nodes"));
  QVERIFY(!button("copy").isEnabled() && !button("save").isEnabled());
  QCOMPARE(table().model().row_count(), 0);
  QCOMPARE(table().model().columnCount(), 0);
}

void QueryTest::a_row_selects_its_node() {
  QVERIFY(run("SELECT node_id, output_bytes FROM nodes ORDER BY output_bytes DESC LIMIT 5"));
  TableView& view = table().view();
  const QModelIndex index = table().model().index_of(2);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(index).center());
  const auto id = static_cast<std::size_t>(*table().model().number(2, 0));
  QCOMPARE(document().selection().current().index(), id);
  // Sorting keeps the row selected.
  view.sortByColumn(1, Qt::AscendingOrder);
  QCOMPARE(view.selected_rows(), std::vector{2});
  // The rows of another query are other rows.
  QVERIFY(run("SELECT node_id FROM nodes LIMIT 5"));
  QCOMPARE(view.selected_rows(), std::vector<int>());
}

void QueryTest::rows_without_nodes_select_none() {
  // True if the menu of the first row offers to select nodes.
  const auto offers_nodes = [this] {
    TableView& view = table().view();
    const QPoint at = view.visualRect(table().model().index_of(0)).center();
    QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, at);
    bool is_enabled = false, is_found = false;
    QTimer::singleShot(0, &view, [&] {
      QWidget* menu = QApplication::activePopupWidget();
      if (menu == nullptr) return;
      for (const QAction* action : menu->actions()) {
        if (action->text() != "Select Nodes") continue;
        is_found = true;
        is_enabled = action->isEnabled();
      }
      menu->close();
    });
    emit view.customContextMenuRequested(at);
    return is_found && is_enabled;
  };
  QVERIFY(run("SELECT node_id FROM nodes LIMIT 1"));
  QVERIFY(offers_nodes());
  QVERIFY(run("SELECT count(*) AS n FROM nodes"));
  QVERIFY(!offers_nodes());
}

// The menu does the same as clicks on the header, without a mouse.
void QueryTest::the_menu_sorts_and_hides_columns() {
  QVERIFY(run("SELECT node, output_bytes FROM nodes"));
  TableView& view = table().view();
  const auto trigger = [&view](const QString& submenu, const QString& entry) {
    bool is_done = false;
    QTimer::singleShot(0, &view, [&] {
      QWidget* menu = QApplication::activePopupWidget();
      if (menu == nullptr) return;
      for (const QAction* part : menu->actions()) {
        if (part->menu() == nullptr || part->text() != submenu) continue;
        for (QAction* action : part->menu()->actions()) {
          if (action->text() != entry) continue;
          action->trigger();
          is_done = true;
        }
      }
      menu->close();
    });
    emit view.customContextMenuRequested(QPoint(5, 5));
    return is_done;
  };
  const QHeaderView* header = view.header();
  QVERIFY(trigger("Sort By", "output_bytes"));
  QCOMPARE(header->sortIndicatorSection(), 1);
  QCOMPARE(header->sortIndicatorOrder(), Qt::DescendingOrder);
  QVERIFY(trigger("Sort By", "output_bytes"));
  QCOMPARE(header->sortIndicatorOrder(), Qt::AscendingOrder);
  QVERIFY(trigger("Sort By", "Original Order"));
  QCOMPARE(header->sortIndicatorSection(), -1);
  QVERIFY(trigger("Columns", "output_bytes"));
  QVERIFY(view.isColumnHidden(1));
  QVERIFY(trigger("Columns", "output_bytes"));
  QVERIFY(!view.isColumnHidden(1));
}

void QueryTest::says_what_is_wrong() {
  QVERIFY(run("SELECT nod FROM nodes"));
  QCOMPARE(status().text(),
           QStringLiteral("no such column: nod (line 1, column 8); did you mean node?"));
  QVERIFY(run("DELETE FROM nodes"));
  QVERIFY(status().text().contains("can only read"));
  QVERIFY(run("SELECT count(*) FROM nodes"));
  QCOMPARE(table().model().number(0, 0),
           static_cast<std::int64_t>(document().graph().order().size()));
}

void QueryTest::stops_a_query() {
  QVERIFY(run("SELECT 1"));
  type("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
  QTest::mouseClick(&button("run"), Qt::LeftButton);
  QVERIFY(button("cancel").isEnabled());
  QTest::qWait(30);
  QTest::mouseClick(&button("cancel"), Qt::LeftButton);
  QCOMPARE(status().text(), QStringLiteral("Cancelled."));
  QVERIFY(run("SELECT 7"));
  QCOMPARE(table().model().number(0, 0), 7);
  // A newer query replaces one that is running.
  type("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n");
  QTest::mouseClick(&button("run"), Qt::LeftButton);
  QVERIFY(run("SELECT 8"));
  QCOMPARE(table().model().number(0, 0), 8);
}

void QueryTest::copies_and_saves_exact_values() {
  auto& limit = child<QSpinBox>(*pane_, "limit");
  test::type(limit, "2");
  QVERIFY(run("SELECT node, ns FROM nodes WHERE ns > 0 ORDER BY position"));
  QVERIFY2(status().text().startsWith("The first 2 rows in ") &&
               status().text().endsWith("; there are more."),
           qPrintable(status().text()));
  QCOMPARE(table().model().row_count(), 2);
  table().copy_all();
  const QString text = QGuiApplication::clipboard()->text();
  QVERIFY(text.startsWith("node\tns\n"));
  const QStringList first = text.split('\n')[1].split('\t');
  const NodeId node = document().graph().find(first[0].toStdString());
  QCOMPARE(first[1].toLongLong(), document().analysis().costs[node.index()].ns);
  const QString path = folder_->filePath("rows.tsv");
  test::answer_file_dialog(path);
  table().save_as();
  QFile file(path);
  QVERIFY(file.open(QIODevice::ReadOnly));
  QCOMPARE(QString::fromUtf8(file.readAll()), text);
  // A file that cannot be written is reported while the window stays usable.
  test::answer_file_dialog(folder_->filePath("missing/rows.tsv"));
  table().save_as();
  auto& warning = child<QMessageBox>(table());
  QVERIFY(warning.isVisible());
  QVERIFY2(warning.text().contains("missing/rows.tsv"), qPrintable(warning.text()));
  QCOMPARE(warning.textFormat(), Qt::PlainText);
  QTest::keyClick(&warning, Qt::Key_Return);
  test::type(limit, "1");
  QVERIFY(run("SELECT node FROM nodes"));
  QVERIFY2(status().text().startsWith("The first row in "), qPrintable(status().text()));
}

void QueryTest::a_table_that_cannot_be_saved_is_reported() {
  QVERIFY(run("SELECT node FROM nodes"));
  test::answer_file_dialog(folder_->filePath("none/rows.tsv"));
  table().save_as();
  auto& box = child<QMessageBox>(table());
  QVERIFY2(box.text().contains("rows.tsv"), qPrintable(box.text()));
  box.close();
}

void QueryTest::examples_run() {
  const QMenu* menu = button("examples").menu();
  QVERIFY(menu->actions().size() > 4);
  for (QAction* example : menu->actions()) {
    example->trigger();
    QTRY_VERIFY_WITH_TIMEOUT(!button("cancel").isEnabled(), kPatienceMs);
    QVERIFY2(status().text().contains(" in "), qPrintable(example->text() + status().text()));
    QVERIFY(table().model().columnCount() > 1);
  }
  // A name in the list of tables is inserted by a double-click, and by Enter.
  auto& schema = child<SchemaList>(*pane_);
  editor().clear();
  const QTreeWidgetItem* nodes = schema.findItems("nodes", Qt::MatchExactly).front();
  const QPoint at = schema.visualItemRect(nodes).center();
  QTest::mouseClick(schema.viewport(), Qt::LeftButton, {}, at);
  QTest::mouseDClick(schema.viewport(), Qt::LeftButton, {}, at);
  QCOMPARE(editor().toPlainText(), QStringLiteral("nodes"));
  editor().clear();
  schema.setFocus();
  QTest::keyClick(&schema, Qt::Key_Return);
  QCOMPARE(editor().toPlainText(), QStringLiteral("nodes"));
}

void QueryTest::rows_of_an_earlier_graph_say_so() {
  QVERIFY(run("SELECT count(*) FROM nodes"));
  const auto old_labels = [this] {
    int count = 0;
    for (const QLabel* label : table().findChildren<QLabel*>())
      count += label->isVisible() && label->text().contains("have changed") ? 1 : 0;
    return count;
  };
  QCOMPARE(old_labels(), 0);
  AnalysisOptions options = document().analysis().options;
  options.estimator.device = "b200";
  document().analyze_with(options);
  QTRY_COMPARE_WITH_TIMEOUT(old_labels(), 1, kPatienceMs);
  QVERIFY(run("SELECT step_ns FROM step"));
  QCOMPARE(table().model().number(0, 0), document().analysis().simulation.step_ns());
  QCOMPARE(old_labels(), 0);
  // A query that failed has no rows that could be outdated.
  QVERIFY(run("SELECT nod FROM nodes"));
  QSignalSpy changed(&document(), &Document::changed);
  options.estimator.device = "a100";
  document().analyze_with(options);
  QVERIFY(changed.wait(kPatienceMs));
  QCOMPARE(old_labels(), 0);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::QueryTest, "query")
#include "query_test.moc"
