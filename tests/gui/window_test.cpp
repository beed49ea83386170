// Drives the real window like a user: dropped files, keys, mouse, commands.

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QHash>
#include <QImageReader>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QSignalSpy>
#include <QStatusBar>
#include <QTest>

#include "core/base/bytes.h"
#include "core/base/units.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/ladder_places.h"
#include "tests/support/child.h"
#include "views/alive/alive_pane.h"
#include "views/compare/compare_pane.h"
#include "views/find/find_bar.h"
#include "views/graph/graph_pane.h"
#include "views/inspector/inspector_pane.h"
#include "views/operators/operators_pane.h"
#include "views/palette/command_palette.h"
#include "views/session/text/node_text.h"
#include "views/window/facts_popup.h"
#include "views/window/graph_chooser.h"
#include "views/window/message_bar.h"
#include "views/window/recent_files.h"
#include "views/window/scoreboard.h"

namespace jointer {
namespace {

using namespace views;
using desktop::MainWindow;

using test::kPatienceMs;

QString sample(const char* name) {
  return QString::fromStdString(test::source_path(std::string("resources/samples/") + name));
}
const QString kJoint = sample("llama_debug_tp2_fsdp2.joint.json.zst");
const QString k8b = sample("llama_8b_tp2_fsdp2.joint.json.zst");

}  // namespace

class WindowTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init();
  void cleanup() { close_window(); }

  void empty_window_shows_a_hint();
  void opens_a_graph_and_shows_its_figures();
  void drops_open_files();
  void reports_why_a_file_cannot_be_opened();
  void asks_which_of_several_graphs_to_open();
  void compares_a_graph_of_a_log_with_the_previous_one();
  void says_that_a_pass_of_a_log_changed_nothing();
  void cancels_reading();
  void several_documents_keep_their_selections();
  void keys_work_on_the_timeline();
  void wheel_zooms_at_the_pointer();
  void clicks_select_in_every_pane();
  void the_ladder_shares_the_selection();
  void goes_to_panes_by_key();
  void panes_do_not_enlarge_a_small_window();
  void drag_selects_a_range();
  void finds_nodes();
  void runs_commands_by_name();
  void access_keys_are_unique_within_a_menu();
  void copies_a_report();
  void saves_a_screenshot();
  void changes_assumed_sizes();
  void the_end_of_an_analysis_keeps_newer_messages();
  void a_message_ends_with_its_document();
  void reloads_a_changed_file();
  void remembers_files_and_layout();
  void layout_of_another_version_is_not_restored();
  void changes_theme();
  void shows_facts();

 private:
  void init_window();
  // Opens a file and waits until it is shown.
  DocumentTab* open(const QString& path);
  // Opens a graph of a log of passes, the one in this row of the list, and compares it with the
  // previous one; null if this fails.
  ComparePane* compare_graph_of_log(int row);
  void run_action(const QString& text) { test::run_action(*window_, text); }
  // A point in the middle of a node's item.
  static QPoint point_of(TimelineView& timeline, NodeId node);
  static NodeId find(const DocumentTab& tab, const char* name) {
    return tab.document()->graph().find(name);
  }
  [[nodiscard]] int tab_count() const { return test::tab_count(*window_); }
  static NodeId first_collective(const DocumentTab& tab) {
    return tab.document()->analysis().simulation.collectives().front().start;
  }
};

void WindowTest::init() {
  make_folder();
  settings_ = std::make_unique<QSettings>(folder_->filePath("settings.ini"), QSettings::IniFormat);
  apply_theme(*qApp, ThemeChoice::light);
  init_window();
}

void WindowTest::init_window() {
  desktop::FirstMinutes::set_dismissed(*settings_, true);
  window_ = std::make_unique<MainWindow>(*settings_, AnalysisOptions{}, service_,
                                         BenchmarkHistory(folder_->path().toStdString()));
  window_->show();
  QVERIFY(QTest::qWaitForWindowActive(window_.get()));
}

DocumentTab* WindowTest::open(const QString& path) {
  if (!open_file(path.toStdString())) return nullptr;
  // Panes are created one by one, each in its own turn of the event loop.
  const auto has_panes = [this] {
    return window_->dock("inspector")->pane() != nullptr ||
           !window_->dock("inspector")->isVisible();
  };
  return QTest::qWaitFor(has_panes) ? window_->current_tab() : nullptr;
}

QPoint WindowTest::point_of(TimelineView& timeline, NodeId node) {
  const TimelineData& data = timeline.content().data();
  const auto extent = data.extent(node);
  const auto lane = static_cast<std::size_t>(data.lane_of(node));
  const double x =
      timeline.range().axis().to_pixel(static_cast<double>(extent.begin + extent.end) / 2);
  return {static_cast<int>(x), timeline.layout().lane[lane].center().y()};
}

void WindowTest::empty_window_shows_a_hint() {
  auto* page = window_->findChild<EmptyPage*>();
  QVERIFY(page->isVisible());
  for (const char* name : {"modules", "operators", "alive", "inspector"})
    QVERIFY2(!window_->dock(name)->isVisible(), name);
  // The button opens the sample, and the panes appear.
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  for (auto* button : page->findChildren<QPushButton*>())
    if (button->text().contains(u"Sample")) QTest::mouseClick(button, Qt::LeftButton);
  QVERIFY(opened.wait(kPatienceMs));
  QVERIFY(!page->isVisible());
  QVERIFY(window_->dock("inspector")->isVisible());
}

void WindowTest::opens_a_graph_and_shows_its_figures() {
  const DocumentTab* tab = open(k8b);
  QVERIFY(tab != nullptr);
  QVERIFY(window_->windowTitle().startsWith(tab->document()->title()));
  const auto* board = window_->findChild<Scoreboard*>();
  QVERIFY(board != nullptr && board->isVisible());
  QStringList shown;
  for (const auto* label : board->findChildren<QLabel*>()) shown << label->text();
  const Analysis& analysis = tab->document()->analysis();
  QVERIFY(shown.contains(QString::fromStdString(format_bytes(analysis.memory.peak_bytes()))));
  QVERIFY(shown.contains(
      QString::fromStdString(format_ms(static_cast<double>(analysis.simulation.step_ns()) / 1e6))));
  QVERIFY(window_->findChild<QToolButton*>("facts")->text().startsWith("9,803 nodes"));
}

void WindowTest::drops_open_files() {
  // Both halves of a pair form one document, in either order; another file has its own.
  const auto pair = read_bytes(sample("llama_debug_tp2.min_cut.json.zst").toStdString());
  QVERIFY(pair.has_value());
  const auto document = QJsonDocument::fromJson(
      QByteArray(pair->view().data(), static_cast<qsizetype>(pair->view().size())));
  for (const auto& [half, name] : {std::pair{"forward", "m.fw.json"}, {"backward", "m.bw.json"}}) {
    QFile file(folder_->filePath(name));
    QVERIFY(file.open(QFile::WriteOnly));
    file.write(QJsonDocument(document[half].toObject()).toJson());
  }
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  test::drop(*window_, {folder_->filePath("m.bw.json"), kJoint, folder_->filePath("m.fw.json")});
  QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 2, kPatienceMs);
  QCOMPARE(tab_count(), 2);
  int pairs = 0;
  for (const DocumentTab* tab : window_->findChildren<DocumentTab*>())
    pairs += tab->document()->graph().is_pair() ? 1 : 0;
  QCOMPARE(pairs, 1);
}

void WindowTest::reports_why_a_file_cannot_be_opened() {
  const QString path = folder_->filePath("broken.json");
  QFile file(path);
  QVERIFY(file.open(QFile::WriteOnly));
  file.write(R"({"format":"jointer-capture","version":1,"kind":"joint","nodes":[)");
  file.close();
  QSignalSpy failed(window_.get(), &MainWindow::open_failed);
  test::drop(*window_, {path});
  QVERIFY(failed.wait(kPatienceMs));
  const auto* page = window_->findChild<ErrorPage*>();
  QVERIFY(page != nullptr && page->isVisible());
  QVERIFY(test::child<QTextEdit>(*page, "message").toPlainText().contains(path));
  // After the file is repaired, a retry opens it in the same tab.
  QFile::remove(path);
  QVERIFY(QFile::copy(kJoint, path));
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  for (auto* button : page->findChildren<QPushButton*>())
    if (button->text() == "Try Again") {
      QTRY_VERIFY(button->height() > 0);  // pages are laid out in the next turn
      QTest::mouseClick(button, Qt::LeftButton);
    }
  QVERIFY(opened.wait(kPatienceMs));
  QCOMPARE(tab_count(), 1);
}

void WindowTest::asks_which_of_several_graphs_to_open() {
  const QString folder = folder_->filePath("<b>captures");
  QVERIFY(QDir().mkdir(folder));
  QVERIFY(QFile::copy(kJoint, folder + "/a.json.zst"));
  QVERIFY(QFile::copy(sample("llama_debug_fsdp2.joint.json.zst"), folder + "/b.json.zst"));
  window_->open({.path = folder.toStdString()});
  GraphChooser* chooser = nullptr;
  QTRY_VERIFY((chooser = window_->findChild<GraphChooser*>()) != nullptr && chooser->isVisible());
  auto* list = chooser->findChild<QListWidget*>();
  QCOMPARE(list->count(), 2);
  // The name of a folder is not markup.
  auto* question = chooser->findChild<QLabel*>();
  QVERIFY(question->text().contains("<b>captures"));
  QCOMPARE(question->textFormat(), Qt::PlainText);
  list->setFocus();
  QTest::keyClick(list, Qt::Key_A, Qt::ControlModifier);
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  QTest::keyClick(chooser, Qt::Key_Return);
  QTRY_COMPARE_WITH_TIMEOUT(opened.count(), 2, kPatienceMs);
  QTRY_COMPARE(tab_count(), 2);
}

ComparePane* WindowTest::compare_graph_of_log(int row) {
  const std::string head =
      "\tclass GraphModule(torch.nn.Module):\n"
      "\t    def forward(self, x: \"f32[4][1]cpu\"):\n";
  const std::string sin = "\t        sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(x)\n";
  const std::string end =
      "\t        cos: \"f32[4][1]cpu\" = torch.ops.aten.cos.default(x)\n"
      "\t        return (cos,)\n";
  std::string log;
  const auto add = [&](const char* name, const std::string& graph) {
    log += fmt::format(
        "V1121 02:41:50.572000 1 debug_utils.py:121] {{\"artifact\": {{\"name\": \"{}\"}}}}\n{}",
        name, graph);
  };
  add("make_fx_graph_traced", head + sin + end);
  add("before_drop_pass", head + sin + end);
  add("after_drop_pass", head + end);
  const QString path = folder_->filePath("passes.log");
  if (!write_bytes(path.toStdString(), log)) return nullptr;
  window_->open({.path = path.toStdString()});
  GraphChooser* chooser = nullptr;
  const auto is_asked = [&] {
    chooser = window_->findChild<GraphChooser*>();
    return chooser != nullptr && chooser->isVisible();
  };
  if (!QTest::qWaitFor(is_asked, kPatienceMs)) return nullptr;
  auto* list = chooser->findChild<QListWidget*>();
  if (list->count() != 3 || chooser->compares() == nullptr || chooser->compares()->isChecked())
    return nullptr;
  chooser->compares()->setChecked(true);
  list->setCurrentRow(row);
  QTest::keyClick(list, Qt::Key_Return);
  ComparePane* pane = nullptr;
  const auto is_compared = [&] {
    pane = window_->findChild<ComparePane*>();
    return pane != nullptr && pane->isVisible() && pane->comparison() != nullptr &&
           pane->comparison()->from.name == QStringLiteral("before the pass");
  };
  return QTest::qWaitFor(is_compared, kPatienceMs) ? pane : nullptr;
}

void WindowTest::compares_a_graph_of_a_log_with_the_previous_one() {
  const ComparePane* pane = compare_graph_of_log(2);
  QVERIFY(pane != nullptr);
  QVERIFY(pane->comparison()->from.snapshot->graph.find("sin"));
  QVERIFY(!pane->comparison()->to.snapshot->graph.find("sin"));
}

// The user has not edited the graph, but that is not why the table is empty.
void WindowTest::says_that_a_pass_of_a_log_changed_nothing() {
  const ComparePane* pane = compare_graph_of_log(1);
  QVERIFY(pane != nullptr);
  QVERIFY(pane->comparison()->nodes->nodes().empty());
  QStringList shown;
  for (const auto* label : pane->findChildren<QLabel*>()) shown << label->text();
  QVERIFY2(shown.contains(QStringLiteral("No nodes differ between these two states.")),
           qPrintable(shown.join(u'\n')));
}

void WindowTest::cancels_reading() {
  window_->open({.path = k8b.toStdString()});
  auto* page = window_->findChild<LoadingPage*>();
  QVERIFY(page != nullptr);
  QElapsedTimer since;
  since.start();
  QTest::mouseClick(page->findChild<QPushButton*>(), Qt::LeftButton);
  QTRY_COMPARE(tab_count(), 0);
  QVERIFY(since.elapsed() < 100);
  QVERIFY(window_->findChild<EmptyPage*>()->isVisible());
}

void WindowTest::several_documents_keep_their_selections() {
  DocumentTab* first = open(kJoint);
  const NodeId node = first_collective(*first);
  first->document()->selection().select(node);
  DocumentTab* second = open(sample("llama_debug_fsdp2.joint.json.zst"));
  QCOMPARE(tab_count(), 2);
  QVERIFY(second->document()->selection().nodes().empty());
  QTest::keyClick(window_.get(), Qt::Key_PageUp, Qt::ControlModifier);
  QCOMPARE(window_->current_tab(), first);
  QCOMPARE(first->document()->selection().current(), node);
  // Closing the current tab shows the other one with its panes.
  QTest::keyClick(window_.get(), Qt::Key_W, Qt::ControlModifier);
  QCOMPARE(tab_count(), 1);
  QCOMPARE(window_->current_tab(), second);
  QTest::keyClick(window_.get(), Qt::Key_W, Qt::ControlModifier);
  QVERIFY(window_->findChild<EmptyPage*>()->isVisible());
}

void WindowTest::keys_work_on_the_timeline() {
  DocumentTab* tab = open(k8b);
  TimelineView* timeline = tab->timeline();
  timeline->setFocus();
  const auto span = [timeline] {
    return timeline->range().axis().end() - timeline->range().axis().begin();
  };
  const double whole = span();
  for (int i = 0; i < 4; ++i) QTest::keyClick(timeline, Qt::Key_W);
  QVERIFY(span() < whole / 2);
  const double begin = timeline->range().axis().begin();
  QTest::keyClick(timeline, Qt::Key_D);
  QVERIFY(timeline->range().axis().begin() > begin);
  QTest::keyClick(timeline, Qt::Key_A);
  QCOMPARE(timeline->range().axis().begin(), begin);
  QTest::keyClick(timeline, Qt::Key_F);
  QCOMPARE(span(), whole);

  QTest::keyClick(timeline, Qt::Key_P);
  const MemoryTimeline& memory = tab->document()->analysis().memory;
  QCOMPARE(tab->document()->moment(), memory.peak_index());
  QCOMPARE(tab->document()->selection().current(), memory.node_at(memory.peak_index()));

  const AxisKind axis = timeline->content().kind();
  QTest::keyClick(timeline, Qt::Key_G);
  QVERIFY(timeline->content().kind() != axis);
  QTest::keyClick(timeline, Qt::Key_G);
  QVERIFY(timeline->content().kind() == axis);

  // From a collective to its wait and back.
  const auto& collective = tab->document()->analysis().simulation.collectives().front();
  tab->document()->selection().select(collective.start);
  QTest::keyClick(timeline, Qt::Key_BracketRight);
  QCOMPARE(tab->document()->selection().current(), collective.wait);
  QTest::keyClick(timeline, Qt::Key_BracketLeft);
  QCOMPARE(tab->document()->selection().current(), collective.start);

  // Goes to the next collective with exposed time.
  QTest::keyClick(timeline, Qt::Key_E);
  const NodeId next = tab->document()->selection().current();
  QVERIFY(next != collective.start);
  QTest::keyClick(timeline, Qt::Key_E, Qt::ShiftModifier);
  QCOMPARE(tab->document()->selection().current(), collective.start);

  QTest::keyClick(timeline, Qt::Key_Escape);
  QVERIFY(tab->document()->selection().nodes().empty());
}

void WindowTest::wheel_zooms_at_the_pointer() {
  DocumentTab* tab = open(k8b);
  TimelineView* timeline = tab->timeline();
  const QPoint at(timeline->layout().left() + timeline->layout().width() / 3,
                  timeline->layout().memory.center().y());
  const double under = timeline->range().axis().to_position(at.x());
  const QPointF global = timeline->viewport()->mapToGlobal(QPointF(at));
  QWheelEvent wheel(at, global, {}, {0, 240}, Qt::NoButton, Qt::ControlModifier, Qt::NoScrollPhase,
                    false);
  QApplication::sendEvent(timeline->viewport(), &wheel);
  QVERIFY(!timeline->range().axis().shows_all());
  const double off = timeline->range().axis().to_position(at.x()) - under;
  QVERIFY(std::abs(off) * timeline->range().axis().width() <
          timeline->range().axis().end() - timeline->range().axis().begin());
}

void WindowTest::clicks_select_in_every_pane() {
  DocumentTab* tab = open(kJoint);
  TimelineView* timeline = tab->timeline();
  timeline->content().set_kind(AxisKind::program_order);
  const NodeId node = first_collective(*tab);
  QTest::mouseClick(timeline->viewport(), Qt::LeftButton, {}, point_of(*timeline, node));
  QVERIFY(tab->document()->selection().contains(node));
  QVERIFY(tab->document()->selection().moment().has_value());

  // The inspector shows the clicked node.
  tab->document()->selection().select(node);
  auto* inspector = qobject_cast<InspectorPane*>(window_->dock("inspector")->pane());
  QVERIFY(inspector != nullptr);
  const QString name = to_qstring(tab->document()->graph().name(node));
  QTRY_VERIFY(inspector->page().toPlainText().contains(name));

  // Alive Now shows the selected moment.
  window_->dock("alive")->raise();
  QTRY_VERIFY(window_->dock("alive")->pane() != nullptr);
  auto* alive = qobject_cast<AlivePane*>(window_->dock("alive")->pane());
  QVERIFY(alive != nullptr);
  const QPoint curve(timeline->layout().left() + timeline->layout().width() / 2,
                     timeline->layout().memory.center().y());
  QTest::mouseClick(timeline->viewport(), Qt::LeftButton, {}, curve);
  const std::int64_t bytes =
      tab->document()->analysis().memory.profile()[tab->document()->moment()];
  const auto says_bytes = [&] {
    for (const auto* label : alive->findChildren<QLabel*>())
      if (label->text().contains(QString::fromStdString(format_bytes(bytes)))) return true;
    return false;
  };
  QTRY_VERIFY(says_bytes());
}

void WindowTest::the_ladder_shares_the_selection() {
  DocumentTab* tab = open(kJoint);
  QTRY_VERIFY(window_->dock("graph")->pane() != nullptr);
  GraphView& graph = qobject_cast<GraphPane*>(window_->dock("graph")->pane())->view();
  Selection& selection = tab->document()->selection();
  // Selecting elsewhere updates the ladder. The window's key zooms the timeline; in the ladder it
  // expands rows.
  const NodeId node = first_collective(*tab);
  selection.select(node);
  graph.setFocus();
  const double begin = tab->timeline()->range().axis().begin(),
               end = tab->timeline()->range().axis().end();
  QTest::keyClick(&graph, Qt::Key_Z);
  QTRY_VERIFY(!test::place_of_node(graph, node).isEmpty());
  QCOMPARE(tab->timeline()->range().axis().begin(), begin);
  QCOMPARE(tab->timeline()->range().axis().end(), end);
  // In the other direction.
  const int row = graph.model().ladder().row_of(node);
  const QPoint at = test::place_of_row(graph, row, LadderSide::forward).center();
  QVERIFY(graph.area().contains(at));
  QTest::mouseClick(graph.viewport(), Qt::LeftButton, {}, at);
  for (const NodeId selected : selection.nodes())
    QCOMPARE(graph.model().ladder().row_of(selected), row);
  QVERIFY(selection.nodes().size() > 1);
}

void WindowTest::goes_to_panes_by_key() {
  DocumentTab* tab = open(kJoint);
  // Operators is behind Modules at first.
  QTest::keyClick(tab->timeline(), Qt::Key_2, Qt::AltModifier);
  PaneDock* dock = window_->dock("operators");
  QTRY_VERIFY(dock->pane() != nullptr && dock->pane()->isVisible());
  auto* operators = qobject_cast<OperatorsPane*>(dock->pane());
  // A row selects all nodes of its operator; the first key press selects a row.
  QTRY_VERIFY(operators->view().hasFocus());
  QTest::keyClick(&operators->view(), Qt::Key_Down);
  QTRY_VERIFY(!tab->document()->selection().nodes().empty());
  const Graph& graph = tab->document()->graph();
  const auto nodes = tab->document()->selection().nodes();
  for (const NodeId node : nodes)
    QCOMPARE(graph.target(graph.node(node)), graph.target(graph.node(nodes.front())));
  // A pane behind another tab comes to the front, as its action says; Qt's action would close it.
  PaneDock* ladder = window_->dock("graph");
  PaneDock* tune = window_->dock("tune");
  QVERIFY(!ladder->visibleRegion().isEmpty() && tune->visibleRegion().isEmpty());
  run_action("Tune");
  QTRY_VERIFY(tune->seen_action()->isChecked());
  QTRY_VERIFY(!ladder->seen_action()->isChecked());
  tune->seen_action()->trigger();
  QTRY_VERIFY(!tune->isVisible());
  QVERIFY(!tune->seen_action()->isChecked());
}

void WindowTest::panes_do_not_enlarge_a_small_window() {
  constexpr QSize kSmall(1280, 800);
  window_->resize(kSmall);
  open(kJoint);
  for (const QString& name : MainWindow::pane_names()) {
    PaneDock* dock = window_->dock(name);
    dock->raise();
    QTRY_VERIFY2(dock->pane() != nullptr && !dock->visibleRegion().isEmpty(), qPrintable(name));
    QTest::qWait(0);  // layouts request space in the next turn
    QVERIFY2(
        window_->size() == kSmall,
        qPrintable(
            QStringLiteral("%1: %2 x %3").arg(name).arg(window_->width()).arg(window_->height())));
  }
}

void WindowTest::drag_selects_a_range() {
  DocumentTab* tab = open(kJoint);
  TimelineView* timeline = tab->timeline();
  const int y = timeline->layout().memory.center().y();
  const QPoint from(timeline->layout().left() + 100, y), to(from.x() + 200, y);
  QTest::mousePress(timeline->viewport(), Qt::LeftButton, {}, from);
  QTest::mouseMove(timeline->viewport(), (from + to) / 2);
  QTest::mouseMove(timeline->viewport(), to);
  QTest::mouseRelease(timeline->viewport(), Qt::LeftButton, {}, to);
  const auto range = tab->document()->selection().range();
  QVERIFY(range.has_value());
  QVERIFY(range->length() > 0);
  QTest::keyClick(timeline, Qt::Key_Escape);
  QVERIFY(!tab->document()->selection().range());
}

void WindowTest::finds_nodes() {
  DocumentTab* tab = open(kJoint);
  QTest::keyClick(tab->timeline(), Qt::Key_Slash);
  auto* bar = tab->findChild<FindBar*>();
  QVERIFY(bar != nullptr && bar->isVisible());
  auto* line = bar->findChild<QLineEdit*>();
  QTRY_VERIFY(line->hasFocus());
  QTest::keyClicks(line, "op:wait_tensor");
  QTest::keyClick(line, Qt::Key_Return);
  const NodeId first = tab->document()->selection().current();
  QVERIFY(first);
  QVERIFY(tab->document()->graph().is_wait(tab->document()->graph().node(first)));
  // The timeline follows, however small its visible range.
  const auto in_sight = [tab] {
    const auto extent =
        tab->timeline()->content().data().extent(tab->document()->selection().current());
    return static_cast<double>(extent.begin) >= tab->timeline()->range().axis().begin() &&
           static_cast<double>(extent.end) <= tab->timeline()->range().axis().end();
  };
  tab->timeline()->zoom(50);
  QTest::keyClick(line, Qt::Key_Return);
  QVERIFY(tab->document()->selection().current() != first);
  QVERIFY(in_sight());
  QTest::keyClick(line, Qt::Key_Return, Qt::ShiftModifier);
  QVERIFY(in_sight());
  QTest::keyClick(line, Qt::Key_Escape);
  QVERIFY(!bar->isVisible());
  QVERIFY(tab->document()->selection().current());
}

void WindowTest::runs_commands_by_name() {
  DocumentTab* tab = open(kJoint);
  QTest::keyClick(window_.get(), Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  auto* palette = window_->findChild<CommandPalette*>();
  QVERIFY(palette != nullptr && palette->isVisible());
  auto* line = palette->findChild<QLineEdit*>();
  QTest::keyClicks(line, "go to peak");
  QTest::keyClick(line, Qt::Key_Return);
  QTRY_VERIFY(tab->document()->selection().moment().has_value());
  QCOMPARE(tab->document()->moment(), tab->document()->analysis().memory.peak_index());
}

void WindowTest::access_keys_are_unique_within_a_menu() {
  QStringList equal;
  const auto compare_keys = [&equal](const QList<QAction*>& actions) {
    QHash<QKeySequence, QString> found;
    for (const QAction* action : actions) {
      const QKeySequence key = QKeySequence::mnemonic(action->text());
      if (key.isEmpty()) continue;
      if (found.contains(key)) equal << found[key] + " / " + action->text();
      found[key] = action->text();
    }
  };
  const QList<QAction*> menus = window_->menuWidget()->findChild<QMenuBar*>()->actions();
  QVERIFY(menus.size() > 5);
  compare_keys(menus);
  for (const QAction* menu : menus) compare_keys(menu->menu()->actions());
  QVERIFY2(equal.isEmpty(), qPrintable(equal.join(", ")));
}

void WindowTest::copies_a_report() {
  const DocumentTab* tab = open(kJoint);
  run_action("Copy Report as Markdown");
  const QString text = QApplication::clipboard()->text();
  QVERIFY(text.contains(tab->document()->title()));
  QVERIFY(text.contains("|"));
}

// The user may type a name without a suffix.
void WindowTest::saves_a_screenshot() {
  const QString path = folder_->filePath("shot");
  test::answer_file_dialog(path);
  run_action("Window Screenshot (PNG)");
  QCOMPARE(QImageReader(path).format(), QByteArray("png"));
  QVERIFY(!QImageReader(path).read().isNull());
}

void WindowTest::changes_assumed_sizes() {
  DocumentTab* tab = open(k8b);
  const std::int64_t before = tab->document()->analysis().memory.peak_bytes();
  const std::int64_t h100 = tab->document()->analysis().simulation.step_ns();
  auto* board = window_->findChild<Scoreboard*>();
  QSignalSpy changed(tab->document(), &Document::changed);
  for (auto* box : board->findChildren<QComboBox*>()) {
    if (box->accessibleName() != "Optimizer state") continue;
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Down);
  }
  QVERIFY(changed.wait(kPatienceMs));
  QVERIFY(tab->document()->analysis().memory.peak_bytes() > before);
  for (auto* box : board->findChildren<QComboBox*>()) {
    if (box->accessibleName() != "Device of the estimates") continue;
    box->setFocus();
    QTest::keyClicks(box, "NVIDIA B200");
  }
  QTRY_VERIFY(tab->document()->analysis().simulation.step_ns() < h100);
}

void WindowTest::the_end_of_an_analysis_keeps_newer_messages() {
  QVERIFY(open(kJoint) != nullptr);
  QStatusBar* status = window_->statusBar();
  const QString computing = QStringLiteral("Computing memory and time...");
  for (const QString& newer : {QString(), QStringLiteral("a newer message")}) {
    QSignalSpy analyzed(&document(), &Document::changed);
    document().analyze_with(document().analysis().options);
    QCOMPARE(status->currentMessage(), computing);
    if (!newer.isEmpty()) status->showMessage(newer);
    QVERIFY(analyzed.wait(kPatienceMs));
    QCOMPARE(status->currentMessage(), newer);
  }
}

void WindowTest::a_message_ends_with_its_document() {
  QVERIFY(open(kJoint) != nullptr);
  window_->statusBar()->showMessage(QStringLiteral("No other position is better."));
  QTest::keyClick(window_.get(), Qt::Key_W, Qt::ControlModifier);
  QTRY_COMPARE(tab_count(), 0);
  QTRY_VERIFY(window_->statusBar()->currentMessage().isEmpty());
}

void WindowTest::reloads_a_changed_file() {
  const QString path = folder_->filePath("graph.json.zst");
  QVERIFY(QFile::copy(kJoint, path));
  DocumentTab* tab = open(path);
  const std::size_t nodes = tab->document()->graph().node_count();
  QFile::remove(path);
  QVERIFY(QFile::copy(sample("llama_debug_fsdp2.joint.json.zst"), path));
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  QTest::keyClick(window_.get(), Qt::Key_F5);
  QVERIFY(opened.wait(kPatienceMs));
  QVERIFY(tab->document()->graph().node_count() != nodes);
  // A missing file does not affect the current document.
  QFile::remove(path);
  QSignalSpy failed(window_.get(), &MainWindow::open_failed);
  QTest::keyClick(window_.get(), Qt::Key_F5);
  QVERIFY(failed.wait(kPatienceMs));
  QVERIFY(tab->document() != nullptr && tab->timeline()->isVisible());
  auto& bar = test::child<MessageBar>(*window_);
  QVERIFY2(bar.text().startsWith("Reloading failed: "), qPrintable(bar.text()));
  // The message names a document that is not the current one.
  QVERIFY(open(kJoint) != nullptr);
  tab->load();
  QVERIFY(failed.wait(kPatienceMs));
  QVERIFY2(bar.text().startsWith("Reloading " + tab->title() + " failed: "),
           qPrintable(bar.text()));
}

void WindowTest::remembers_files_and_layout() {
  QVERIFY(open(kJoint) != nullptr);
  window_->dock("alive")->close();
  window_->close();
  window_ = std::make_unique<MainWindow>(*settings_, AnalysisOptions{}, service_,
                                         BenchmarkHistory(folder_->path().toStdString()));
  window_->show();
  QCOMPARE(RecentFiles(*settings_).list().value(0), QFileInfo(kJoint).absoluteFilePath());
  QVERIFY(open(kJoint) != nullptr);
  QVERIFY(!window_->dock("alive")->isVisible());
  QVERIFY(window_->dock("inspector")->isVisible());
  run_action("Reset Layout");
  QVERIFY(window_->dock("alive")->isVisible());
}

// A layout from an incompatible version is replaced with the default one.
void WindowTest::layout_of_another_version_is_not_restored() {
  window_.reset();
  settings_->setValue("window/state", QByteArray("of another version"));
  init_window();
  QVERIFY(open(kJoint) != nullptr);
  QVERIFY(window_->dock("inspector")->isVisible());
  // Wide tables are in the middle, next to the graph.
  const QList<QDockWidget*> beside = window_->tabifiedDockWidgets(window_->dock("graph"));
  for (const char* name : {"sac", "pipeline", "tune", "benchmark", "compare"})
    QVERIFY2(beside.contains(window_->dock(name)), name);
  QVERIFY(window_->dock("graph")->width() * 5 > window_->width() * 2);
}

void WindowTest::changes_theme() {
  QVERIFY(open(kJoint) != nullptr);
  run_action("Dark");
  QVERIFY(QApplication::palette().color(QPalette::Window).lightness() < 128);
  run_action("Light");
  QVERIFY(QApplication::palette().color(QPalette::Window).lightness() > 128);
  QCOMPARE(settings_->value("theme").toString(), "light");
}

void WindowTest::shows_facts() {
  QVERIFY(open(kJoint) != nullptr);
  QTest::mouseClick(window_->findChild<QToolButton*>("facts"), Qt::LeftButton);
  auto* popup = window_->findChild<FactsPopup*>();
  QVERIFY(popup != nullptr && popup->isVisible());
  popup->close();
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::WindowTest, "window")
#include "window_test.moc"
