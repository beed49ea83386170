// Tests the benchmark pane and the window around it with real events and a fake service.

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QMessageBox>
#include <QStandardItemModel>
#include <algorithm>

#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/snapshots.h"
#include "views/benchmark/benchmark_pane.h"
#include "views/inspector/inspector_pane.h"
#include "views/session/text/number_text.h"
#include "views/timeline/timeline_bar.h"
#include "views/timeline/timeline_view.h"
#include "views/widgets/notice_bar.h"
#include "views/window/message_bar.h"
#include "views/window/scoreboard.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::press;

using test::kPatienceMs;

// A run of two ranks in which the second one failed at a node.
BenchmarkResult failed_at(const test::FakeBenchmarks& fake, const std::string& node) {
  BenchmarkResult result = fake.begun(2);
  result.ranks[1].apply(RankFailed{"memory", node, "out of memory: 2 GiB more was needed"});
  result.ranks[1].status = RankResult::Status::failed;
  result.ranks[0].status = RankResult::Status::stopped;
  return result;
}

// Number of a widget's pixels painted in the error color.
int pixels_of_errors(QWidget& widget) {
  QImage picture(widget.size(), QImage::Format_RGB32);
  widget.render(&picture);
  const QColor error = Theme::light_theme().error;
  int count = 0;
  for (int y = 0; y < picture.height(); ++y)
    for (int x = 0; x < picture.width(); ++x) {
      const QColor pixel = picture.pixelColor(x, y);
      const int distance = std::abs(pixel.red() - error.red()) +
                           std::abs(pixel.green() - error.green()) +
                           std::abs(pixel.blue() - error.blue());
      count += distance < 60 ? 1 : 0;
    }
  return count;
}

}  // namespace

class BenchmarkTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init();
  void cleanup();

  void empty_pane_shows_a_hint();
  void runs_with_the_chosen_settings();
  void tf32_is_a_choice();
  void shows_regions_for_the_regional_backend();
  void shows_every_rank_while_it_runs();
  void cancels_immediately();
  void asks_before_starting_what_does_not_fit();
  void failure_is_a_red_row_linked_to_its_node();
  void offers_the_memory_snapshot_of_a_failed_run();
  void row_shows_its_measurement_in_the_timeline();
  void a_new_window_shows_the_measured_columns();
  void copies_and_removes_rows();
  void copying_all_rows_selects_none();
  void copies_command_lines();
  void explains_why_an_option_is_disabled();
  void the_window_runs_and_cancels_by_key();
  void window_survives_a_crash();
  void closing_the_document_or_the_window_ends_the_run();
  void scoreboard_shows_the_measurement();
  void the_timeline_has_a_measured_axis();
  void a_compiled_block_is_drawn_and_selected_as_one();
  void rows_survive_a_restart();
  void imports_measurements_of_other_tools();
  void calibrating_updates_the_estimates();

 private:
  void make_pane();
  void open_window() {
    make_window(*fake_);
    QVERIFY(open_file(test::source_path(test::kSample)));
  }
  [[nodiscard]] Document& document() const {
    return window_ ? *window_->current_tab()->document() : *document_;
  }
  [[nodiscard]] Benchmarks& benchmarks() const {
    return window_ ? window_->current_tab()->session()->benchmarks() : *benchmarks_;
  }
  [[nodiscard]] QPushButton& cancel_button() const { return child<QPushButton>(*pane_, "cancel"); }
  [[nodiscard]] QComboBox& backend_box() const { return child<QComboBox>(*pane_, "backend"); }
  [[nodiscard]] TableView& rank_view() const { return child<TableView>(*pane_, "ranks"); }
  [[nodiscard]] QTextBrowser& details() const { return child<QTextBrowser>(*pane_, "details"); }
  [[nodiscard]] QLabel& status_label() const { return child<QLabel>(*pane_, "status"); }
  [[nodiscard]] QString cell(int row, int column) const {
    return pane_->table().model().index(row, column).data().toString();
  }

  std::unique_ptr<test::FakeBenchmarks> fake_;
  std::unique_ptr<Document> document_;
  Benchmarks* benchmarks_ = nullptr;  // of `document_`
  std::unique_ptr<BenchmarkPane> pane_;
};

void BenchmarkTest::init() {
  apply_theme(*qApp, ThemeChoice::light);
  make_folder();
  fake_ = std::make_unique<test::FakeBenchmarks>();
}

void BenchmarkTest::cleanup() {
  pane_.reset();
  close_window();
  document_.reset();
}

void BenchmarkTest::make_pane() {
  document_ = std::make_unique<Document>(OpenRequest{.path = "/tmp/graph.json"},
                                         test::snapshot_of(test::kSmallStep));
  benchmarks_ = new Benchmarks(*document_, *fake_, BenchmarkHistory(folder_->path().toStdString()),
                               document_.get());
  pane_ = std::make_unique<BenchmarkPane>(*benchmarks_);
  pane_->resize(900, 500);
  pane_->show();
  QVERIFY(QTest::qWaitForWindowExposed(pane_.get()));
  QTRY_VERIFY(benchmarks_->is_settled());
}

void BenchmarkTest::empty_pane_shows_a_hint() {
  make_pane();
  const auto labels = pane_->table().view().viewport()->findChildren<QLabel*>();
  QCOMPARE(labels.size(), 1);
  QVERIFY(labels.front()->isVisible());
  QVERIFY(labels.front()->text().contains("No benchmarks of this graph yet"));
  QVERIFY(!details().isVisible());
  QVERIFY(!rank_view().isVisible());
  QVERIFY(pane_->form().hint().contains("A CPU, 2 cores"));
  QVERIFY(pane_->form().run_button().isVisible());
  QVERIFY(!cancel_button().isVisible());
}

void BenchmarkTest::runs_with_the_chosen_settings() {
  make_pane();
  auto& iterations = child<QSpinBox>(*pane_, "iterations");
  iterations.setFocus();
  iterations.selectAll();
  QTest::keyClicks(&iterations, "25");
  QTest::keyClick(&backend_box(), Qt::Key_Down);
  press(pane_->form().run_button());
  QCOMPARE(fake_->run(), 1U);
  QCOMPARE(fake_->job().request.iterations, 25);
  // The second backend is disabled, so the keys skip it.
  QVERIFY(fake_->job().request.backend == Backend::inductor);
  QVERIFY(!fake_->job().request.solo);
  QCOMPARE(fake_->job().request.baseline.graph, std::string("/tmp/graph.json"));
}

void BenchmarkTest::tf32_is_a_choice() {
  make_pane();
  auto& tf32 = child<QComboBox>(*pane_, "tf32");
  QCOMPARE(tf32.currentText(), QString("auto"));
  QVERIFY(benchmarks_->settings().request.tf32 == Tf32::automatic);
  test::choose(tf32, "forbid");
  press(pane_->form().run_button());
  QVERIFY(fake_->job().request.tf32 == Tf32::forbid);
  // The field shows settings that are made elsewhere.
  fake_->finish(fake_->measured(2));
  BenchmarkSettings settings = benchmarks_->settings();
  settings.request.tf32 = Tf32::allow;
  benchmarks_->set_settings(settings);
  QCOMPARE(tf32.currentText(), QString("allow"));
}

void BenchmarkTest::shows_regions_for_the_regional_backend() {
  make_pane();
  auto* regions = pane_->form().findChild<QLineEdit*>("marked");
  QVERIFY(!regions->isVisible());
  // Skips the disabled second backend and goes to the fourth.
  QTest::keyClick(&backend_box(), Qt::Key_Down);
  QTest::keyClick(&backend_box(), Qt::Key_Down);
  QVERIFY(regions->isVisible());
  QTest::mouseClick(regions, Qt::LeftButton);
  QTest::keyClicks(regions, "layers.1.* :: *");
  QTest::keyClick(regions, Qt::Key_Home);
  QTest::keyClicks(regions, "x");
  QCOMPARE(regions->text(), QString("xlayers.1.* :: *"));
  QTest::keyClick(regions, Qt::Key_Backspace);
  press(pane_->form().run_button());
  QVERIFY(fake_->job().request.backend == Backend::regional);
  QCOMPARE(fake_->job().request.marked, std::string("layers.1.* :: *"));
}

void BenchmarkTest::shows_every_rank_while_it_runs() {
  make_pane();
  const QAbstractItemModelTester tester(&pane_->ranks(),
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
  press(pane_->form().run_button());
  QVERIFY(cancel_button().isVisible());
  QVERIFY(!pane_->form().run_button().isVisible());
  BenchmarkResult so_far = fake_->begun(2);
  fake_->progress(so_far);
  QVERIFY(rank_view().isVisible());
  QCOMPARE(pane_->ranks().rowCount(), 2);
  so_far.ranks[1].apply(RankProgress{"measure", 3, 10});
  fake_->progress(so_far);
  QCOMPARE(pane_->ranks().index(1, RankModel::stage_column).data().toString(), "measure, 3 of 10");
  QVERIFY(status_label().text().startsWith("Running for"));
  // Time advances while ranks are silent.
  const auto in_stage = [this] {
    return pane_->ranks().number(1, RankModel::elapsed_column).value_or(0);
  };
  const std::int64_t before = in_stage();
  QTRY_VERIFY(in_stage() > before);
  fake_->finish(fake_->measured(2));
  QVERIFY(!rank_view().isVisible());
  QVERIFY(status_label().text().startsWith("Done in"));
  QCOMPARE(pane_->table().model().rowCount(), 1);
  // The new row is selected and described.
  QCOMPARE(pane_->table().view().selected_rows(), std::vector{0});
  QVERIFY(details().toPlainText().contains("Peak memory"));
}

void BenchmarkTest::cancels_immediately() {
  make_pane();
  press(pane_->form().run_button());
  fake_->progress(fake_->begun(2));
  QElapsedTimer since;
  since.start();
  press(cancel_button());
  QCOMPARE(fake_->cancelled(), fake_->run());
  QVERIFY(!cancel_button().isEnabled());
  QCOMPARE(status_label().text(), "Cancelling the run...");
  fake_->finish(fake_->begun(2), /*was_cancelled=*/true);
  QVERIFY(since.elapsed() < 100);
  QVERIFY(pane_->form().run_button().isVisible());
  QVERIFY(status_label().text().startsWith("Cancelled after"));
  QCOMPARE(pane_->table().model().rowCount(), 0);
}

void BenchmarkTest::asks_before_starting_what_does_not_fit() {
  make_pane();
  const auto& question = child<NoticeBar>(*pane_, "question");
  QVERIFY(!question.isVisible());
  press(pane_->form().run_button());
  fake_->find_too_large("Each of the 2 ranks needs 8 GiB, but its share is 1 GiB.");
  QVERIFY(question.isVisible());
  QVERIFY(question.text().contains("needs 8 GiB"));
  press(child<QPushButton>(*pane_, "drop_question"));
  QVERIFY(!question.isVisible());
  QCOMPARE(fake_->run(), 1U);
  press(pane_->form().run_button());
  fake_->find_too_large("Each of the 2 ranks needs 8 GiB, but its share is 1 GiB.");
  press(child<QPushButton>(*pane_, "start_anyway"));
  QVERIFY(!question.isVisible());
  QCOMPARE(fake_->run(), 3U);
  QVERIFY(fake_->job().any_size);
  QVERIFY(cancel_button().isVisible());
}

void BenchmarkTest::failure_is_a_red_row_linked_to_its_node() {
  make_pane();
  press(pane_->form().run_button());
  fake_->finish(failed_at(*fake_, "mm_1"));
  QCOMPARE(cell(0, BenchmarkModel::status_column),
           "rank 1: at mm_1: out of memory: 2 GiB more was needed");
  QVERIFY(status_label().text().contains("rank 1: at mm_1"));
  const QModelIndex index = pane_->table().model().index(0, 0);
  QVERIFY(index.data(TableModel::alarm_role).toBool());
  // The row and the run's status are painted in the error color.
  pane_->table().view().clearSelection();
  QVERIFY(pixels_of_errors(*pane_->table().view().viewport()) > 20);
  QVERIFY(pixels_of_errors(status_label()) > 20);
  // The date is fully visible, although the columns were sized for an empty table.
  QVERIFY(pane_->table().view().columnWidth(BenchmarkModel::when_column) >
          pane_->fontMetrics().horizontalAdvance(cell(0, BenchmarkModel::when_column)));
  // The node's name in the details selects the node everywhere.
  QTest::mouseClick(pane_->table().view().viewport(), Qt::LeftButton, {},
                    pane_->table().view().visualRect(index).center());
  document_->selection().clear();
  const QPoint link = test::place_of_link(details(), "mm_1");
  QTest::mouseClick(details().viewport(), Qt::LeftButton, {}, link);
  QCOMPARE(document_->selection().current(), document_->graph().find("mm_1"));
  // So does double-clicking the row.
  document_->selection().clear();
  QSignalSpy activated(&pane_->table(), &TablePane::node_activated);
  const QPoint at = pane_->table().view().visualRect(index).center();
  QTest::mouseClick(pane_->table().view().viewport(), Qt::LeftButton, {}, at);
  QTest::mouseDClick(pane_->table().view().viewport(), Qt::LeftButton, {}, at);
  QVERIFY(activated.count() >= 1);
  QCOMPARE(document_->selection().current(), document_->graph().find("mm_1"));
}

void BenchmarkTest::offers_the_memory_snapshot_of_a_failed_run() {
  make_pane();
  auto& offer = child<NoticeBar>(*pane_, "snapshot_offer");
  press(pane_->form().run_button());
  fake_->finish(failed_at(*fake_, "mm_1"));
  QVERIFY(!offer.isVisible());  // it wrote none
  press(pane_->form().run_button());
  BenchmarkResult result = failed_at(*fake_, "mm_1");
  result.ranks[1].memory_snapshot =
      test::source_path("tests/fuzz/corpus/memory_snapshot/protocol4.pickle");
  fake_->finish(result);
  QTRY_VERIFY(offer.isVisible());
  QVERIFY(offer.text().startsWith("Rank 1 ran out of GPU memory at mm_1."));
  document_->selection().clear();
  press(child<QPushButton>(*pane_, "show_snapshot"));
  QTRY_VERIFY(document_->measured() != nullptr);
  QCOMPARE(document_->measured()->measurement().label, std::string("protocol4.pickle"));
  QCOMPARE(document_->selection().current(), document_->graph().find("mm_1"));
  QVERIFY(status_label().text().contains("memory snapshot of rank 1"));
  // The offer is for the selected run.
  press(pane_->form().run_button());
  fake_->finish(fake_->measured(2));
  QTRY_VERIFY(!offer.isVisible());
}

void BenchmarkTest::row_shows_its_measurement_in_the_timeline() {
  make_pane();
  for (int i = 0; i < 2; ++i) {
    press(pane_->form().run_button());
    BenchmarkResult result = fake_->measured(2);
    result.ranks[0].measured->step_ns = {(i + 1) * 1'000'000};
    fake_->finish(result);
  }
  QCOMPARE(document_->measured()->measurement().step_ns, 2'000'000);
  TableView& view = pane_->table().view();
  const QModelIndex older = pane_->table().model().index(1, 0);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(older).center());
  QCOMPARE(document_->measured()->measurement().step_ns, 1'000'000);
  QCOMPARE(document_->measurements().size(), 2U);
  // Selecting both runs compares them; the older one is the reference.
  const QModelIndex newer = pane_->table().model().index(0, 0);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, Qt::ControlModifier,
                    view.visualRect(newer).center());
  QVERIFY(details().toPlainText().contains("2 runs compared"));
  QVERIFY(details().toPlainText().contains("5.00 ms (equal)"));
}

// At the width that the pane has in a new window, without scrolling.
void BenchmarkTest::a_new_window_shows_the_measured_columns() {
  open_window();
  PaneDock* dock = window_->dock("benchmark");
  dock->show();
  dock->raise();
  QTRY_VERIFY_WITH_TIMEOUT(dock->pane() != nullptr && dock->pane()->isVisible(), kPatienceMs);
  auto& table = qobject_cast<BenchmarkPane*>(dock->pane())->table();
  benchmarks().run();
  fake_->finish(fake_->measured(2));
  QTRY_COMPARE(table.model().rowCount(), 1);
  TableView& view = table.view();
  for (const int column : {BenchmarkModel::step_column, BenchmarkModel::step_change_column,
                           BenchmarkModel::peak_column, BenchmarkModel::peak_change_column})
    QTRY_VERIFY2(
        view.columnViewportPosition(column) + view.columnWidth(column) <= view.viewport()->width(),
        qPrintable(table.model().headerData(column, Qt::Horizontal, Qt::DisplayRole).toString()));
}

void BenchmarkTest::copies_and_removes_rows() {
  make_pane();
  for (int i = 0; i < 3; ++i) {
    press(pane_->form().run_button());
    fake_->finish(fake_->measured(2));
  }
  TableView& view = pane_->table().view();
  const auto click = [&](int row, Qt::KeyboardModifiers modifiers = {}) {
    QTest::mouseClick(view.viewport(), Qt::LeftButton, modifiers,
                      view.visualRect(pane_->table().model().index(row, 0)).center());
  };
  click(0);
  click(1, Qt::ShiftModifier);
  QTest::keyClick(&view, Qt::Key_C, Qt::ControlModifier);
  QCOMPARE(QApplication::clipboard()->text().count('\n'), 3);
  pane_->table().copy_markdown();
  const QString markdown = QApplication::clipboard()->text();
  QVERIFY(markdown.startsWith('|'));
  QCOMPARE(markdown.count("interpret"), 2);
  view.setFocus();
  QTest::keyClick(&view, Qt::Key_Delete);
  QCOMPARE(pane_->table().model().rowCount(), 1);
  QCOMPARE(benchmarks().rows().size(), 1U);
}

// Selecting rows shows a measurement in the timeline.
void BenchmarkTest::copying_all_rows_selects_none() {
  make_pane();
  for (int i = 0; i < 2; ++i) {
    press(pane_->form().run_button());
    fake_->finish(fake_->measured(2));
  }
  TableView& view = pane_->table().view();
  view.clearSelection();
  QVERIFY(view.selected_rows().empty());
  for (QAction* action : pane_->table().findChildren<QAction*>())
    if (action->text() == "Copy as TSV") action->trigger();
  QCOMPARE(QApplication::clipboard()->text().count('\n'), 3);
  QVERIFY(view.selected_rows().empty());
}

void BenchmarkTest::copies_command_lines() {
  make_pane();
  QStringList copied;
  for (QAction* action : pane_->table().findChildren<QAction*>())
    if (action->text().startsWith("Copy torchrun") || action->text().startsWith("Copy Slurm")) {
      action->trigger();
      copied << QApplication::clipboard()->text();
    }
  QCOMPARE(copied.size(), 2);
  QVERIFY(copied[0].contains("torchrun"));
  QVERIFY(copied[0].contains("graph.json"));
  QVERIFY(copied[1].contains("srun"));
}

void BenchmarkTest::explains_why_an_option_is_disabled() {
  make_pane();
  const auto* items = qobject_cast<QStandardItemModel*>(backend_box().model());
  const QStandardItem* cudagraph = items->item(1);
  QVERIFY(!cudagraph->isEnabled());
  QVERIFY(cudagraph->toolTip().contains("no CUDA device"));
  QVERIFY(items->item(0)->isEnabled());
  // A run in another window blocks this one, and the reason says so.
  Document other(OpenRequest{.path = "b.json"}, test::snapshot_of(test::kSmallStep));
  auto* others =
      new Benchmarks(other, *fake_, BenchmarkHistory(folder_->path().toStdString()), &other);
  others->run();
  QVERIFY(!pane_->form().run_button().isEnabled());
  QVERIFY(pane_->form().hint().contains("two benchmarks at once would slow each other down"));
  QVERIFY(pane_->form().hint().contains("Wait until it ends, or cancel it"));
  const auto& empty = child<QLabel>(*pane_->table().view().viewport());
  QVERIFY2(empty.text().contains("Run is disabled. A benchmark of"), qPrintable(empty.text()));
  fake_->finish(fake_->measured(2));
  QVERIFY(pane_->form().run_button().isEnabled());
  QVERIFY2(empty.text().contains("Press Run"), qPrintable(empty.text()));
}

void BenchmarkTest::the_window_runs_and_cancels_by_key() {
  open_window();
  QTest::keyClick(window_.get(), Qt::Key_R, Qt::ControlModifier);
  QVERIFY(benchmarks().is_running());
  QTRY_VERIFY(window_->dock("benchmark")->pane() != nullptr);
  QVERIFY(window_->dock("benchmark")->pane()->isVisible());
  QTest::keyClick(window_.get(), Qt::Key_Period, Qt::ControlModifier);
  QCOMPARE(fake_->cancelled(), fake_->run());
  fake_->finish(fake_->begun(2), true);
  QVERIFY(!benchmarks().is_running());
}

void BenchmarkTest::window_survives_a_crash() {
  open_window();
  QTest::keyClick(window_.get(), Qt::Key_R, Qt::ControlModifier);
  BenchmarkResult crashed = fake_->begun(2);
  for (RankResult& rank : crashed.ranks) {
    rank.status = RankResult::Status::died;
    rank.reason = "it was ended by signal 11 (Segmentation fault)";
  }
  fake_->finish(crashed);
  QCOMPARE(benchmarks().rows().size(), 1U);
  const auto& failures = child<MessageBar>(*window_);
  QVERIFY(failures.isVisible());
  QVERIFY2(failures.text().contains("signal 11"), qPrintable(failures.text()));
  QTest::keyClick(window_->current_tab()->timeline(), Qt::Key_P);
  QVERIFY(document().selection().current());
  QTest::keyClick(window_.get(), Qt::Key_R, Qt::ControlModifier);
  fake_->finish(fake_->measured(2));
  QCOMPARE(benchmarks().rows().size(), 2U);
  // The failure stays until it is dismissed.
  QVERIFY(failures.text().contains("signal 11"));
  press(child<QPushButton>(failures, "dismiss"));
  QVERIFY(!failures.isVisible());
}

void BenchmarkTest::closing_the_document_or_the_window_ends_the_run() {
  open_window();
  QTest::keyClick(window_.get(), Qt::Key_R, Qt::ControlModifier);
  QTest::keyClick(window_.get(), Qt::Key_W, Qt::ControlModifier);
  QTRY_COMPARE(fake_->cancelled(), fake_->run());
  fake_->finish(fake_->begun(2), true);
  QVERIFY(open_file(test::source_path(test::kSample)));
  QTest::keyClick(window_.get(), Qt::Key_R, Qt::ControlModifier);
  QCOMPARE(fake_->run(), 2U);
  window_.reset();
  QCOMPARE(fake_->cancelled(), 2U);
}

void BenchmarkTest::scoreboard_shows_the_measurement() {
  open_window();
  // Panes are created one by one, each in its own turn of the event loop.
  QTRY_VERIFY(window_->findChild<Scoreboard*>() != nullptr);
  const auto* board = window_->findChild<Scoreboard*>();
  const auto measured = [board]() -> QLabel* {
    for (QLabel* label : board->findChildren<QLabel*>())
      if (label->accessibleName() == "Measured") return label;
    return nullptr;
  };
  QVERIFY(!measured()->isVisible());
  benchmarks().run();
  fake_->finish(fake_->measured(2));
  QVERIFY(measured()->isVisible());
  QVERIFY(measured()->text().endsWith("· 5.00 ms"));
  QVERIFY(measured()->parentWidget()->toolTip().contains("rank 0, interpret, on A CPU"));
  document().show_measurement(nullptr);
  QVERIFY(!measured()->isVisible());
}

void BenchmarkTest::the_timeline_has_a_measured_axis() {
  open_window();
  TimelineView* timeline = window_->current_tab()->timeline();
  const std::size_t lanes = timeline->content().rows().size();
  QTest::keyClick(timeline, Qt::Key_G);
  QTest::keyClick(timeline, Qt::Key_G);
  QVERIFY(timeline->content().kind() == AxisKind::estimated_time);
  benchmarks().run();
  fake_->finish(fake_->measured(2));
  QVERIFY(timeline->content().rows().size() > lanes);
  QTest::keyClick(timeline, Qt::Key_G);
  QVERIFY(timeline->content().kind() == AxisKind::measured_time);
  QCOMPARE(&timeline->content().data(), timeline->content().measured());

  // Clicking a measured lane selects the node, and the card shows both times.
  const auto row =
      std::find_if(timeline->content().rows().begin(), timeline->content().rows().end(),
                   [](const TimelineContent::Row& r) { return r.is_measured; });
  const LaneItem& item = timeline->content().lane(*row).items().front();
  document().selection().select(item.node);
  timeline->range().show_selection();
  const double x =
      timeline->range().axis().to_pixel(static_cast<double>(item.begin + item.end) / 2);
  const QPoint at(static_cast<int>(x),
                  timeline->layout()
                      .lane[static_cast<std::size_t>(row - timeline->content().rows().begin())]
                      .center()
                      .y());
  document().selection().clear();
  QTest::mouseClick(timeline->viewport(), Qt::LeftButton, {}, at);
  QCOMPARE(document().selection().current(), item.node);
  QVERIFY(timeline->card_at(at).join('\n').contains("measured 200 us · estimated"));

  // The choice belongs to the document: without a measurement the axis is unavailable.
  document().show_measurement(nullptr);
  QVERIFY(timeline->content().kind() == AxisKind::estimated_time);
  QCOMPARE(timeline->content().rows().size(), lanes);
  const auto* bar = window_->findChild<TimelineBar*>();
  auto* choice = bar->findChild<QToolButton*>("measurement");
  QVERIFY(choice->isVisible());
  emit choice->menu()->aboutToShow();
  QCOMPARE(choice->menu()->actions().size(), 4);  // two ranks, a separator, none
  choice->menu()->actions()[1]->trigger();
  QCOMPARE(document().measured()->measurement().label, std::string("rank 1, interpret"));
}

void BenchmarkTest::a_compiled_block_is_drawn_and_selected_as_one() {
  open_window();
  TimelineView* timeline = window_->current_tab()->timeline();
  benchmarks().run();
  fake_->finish(fake_->compiled(2));
  const MeasuredTimeline* measured = document().measured();
  QVERIFY(measured != nullptr);
  const MeasuredBlock& block = measured->measurement().blocks.front();
  timeline->content().set_kind(AxisKind::measured_time);
  timeline->range().fit();

  // One item over the compute lane and the lanes of the collectives, with its time and its peak.
  std::size_t lanes = 0;
  QPoint at;
  const auto& rows = timeline->content().rows();
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!rows[row].is_measured) continue;
    const Lane& lane = timeline->content().lane(rows[row]);
    QCOMPARE(lane.items().size(), 1U);
    const LaneItem& item = lane.items().front();
    QCOMPARE(*lane.text(item), std::string("compiled joint, 4.00 ms"));
    QCOMPARE(item.begin, 500'000);
    QCOMPARE(item.end, 4'500'000);
    ++lanes;
    at = QPoint(static_cast<int>(timeline->range().axis().to_pixel(2'000'000.0)),
                timeline->layout().lane[row].center().y());
  }
  QVERIFY(lanes > 1);
  const QString card = timeline->card_at(at).join('\n');
  QVERIFY2(card.contains("measured 4.00 ms · estimated") &&
               card.contains("peak memory " + bytes_text(block.peak_bytes)) &&
               card.contains("not timed individually"),
           qPrintable(card));

  // Ctrl+click adds or removes all of them.
  Selection& selection = document().selection();
  const NodeId other = document().graph().order().front();
  QVERIFY(!std::ranges::count(block.nodes, other));
  selection.select(other);
  QTest::mouseClick(timeline->viewport(), Qt::LeftButton, Qt::ControlModifier, at);
  QCOMPARE(selection.nodes().size(), block.nodes.size() + 1);
  QVERIFY(selection.contains(other));
  QTest::mouseClick(timeline->viewport(), Qt::LeftButton, Qt::ControlModifier, at);
  QCOMPARE(selection.nodes().size(), 1U);
  QCOMPARE(selection.current(), other);

  // A click selects all its nodes, and the inspector says what ran in their place.
  QTest::mouseClick(timeline->viewport(), Qt::LeftButton, {}, at);
  QCOMPARE(document().selection().nodes().size(), block.nodes.size());
  QTRY_VERIFY(window_->findChild<InspectorPane*>() != nullptr);
  const auto* inspector = window_->findChild<InspectorPane*>();
  QTRY_VERIFY(inspector->content().sections.size() > 0);
  const auto& total = inspector->content().sections.front().rows;
  const auto row = std::ranges::find(total, QString("compiled"), &InspectorRow::label);
  QVERIFY(row != total.end());
  QVERIFY2(row->value.contains("joint: 4.00 ms"), qPrintable(row->value));
  const auto* bar = window_->findChild<TimelineBar*>();
  QVERIFY(child<QToolButton>(*bar, "measurement").toolTip().contains("not timed individually"));
}

void BenchmarkTest::rows_survive_a_restart() {
  open_window();
  benchmarks().run();
  fake_->finish(fake_->measured(2));
  QTRY_VERIFY(benchmarks().is_settled());
  window_.reset();
  open_window();
  benchmarks().load();
  QTRY_COMPARE(benchmarks().rows().size(), 1U);
}

void BenchmarkTest::imports_measurements_of_other_tools() {
  open_window();
  const QString snapshot = QString::fromStdString(
      test::source_path("tests/fuzz/corpus/memory_snapshot/protocol4.pickle"));
  const QString broken = folder_->filePath("broken.trace.json");
  QFile file(broken);
  QVERIFY(file.open(QFile::WriteOnly));
  file.write(R"({"traceEvents": [{"ph": "X"}]})");
  file.close();
  test::drop(*window_, {snapshot});
  QTRY_VERIFY(document().measured() != nullptr);
  QCOMPARE(document().measured()->measurement().label, std::string("protocol4.pickle"));
  QVERIFY(document().measured()->peak_bytes() > 0);
  QCOMPARE(test::tab_count(*window_), 1);  // not opened as a graph
  // A trace without nodes of this graph is rejected and leaves the shown measurement.
  test::drop(*window_, {broken});
  QMessageBox* box = nullptr;
  QTRY_VERIFY((box = window_->findChild<QMessageBox*>()) != nullptr && box->isVisible());
  QVERIFY(box->text().contains("broken.trace.json"));
  QTest::keyClick(box, Qt::Key_Return);
  QCOMPARE(document().measured()->measurement().label, std::string("protocol4.pickle"));
  QCOMPARE(test::tab_count(*window_), 1);
}

void BenchmarkTest::calibrating_updates_the_estimates() {
  qputenv("JOINTER_COSTS", folder_->filePath("costs.sqlite").toUtf8());
  open_window();
  QTRY_VERIFY(window_->findChild<Scoreboard*>() != nullptr);
  benchmarks().calibrate();
  QSignalSpy changed(&document(), &Document::changed);
  fake_->finish(fake_->measured(2));
  QVERIFY(changed.wait(kPatienceMs));
  QCOMPARE(document().analysis().options.estimator.name,
           std::string(R"(measured{device="A CPU, 2 threads"})"));
  QVERIFY(document().analysis().estimator.starts_with("measured on A CPU, 2 threads"));
  // It is one of the choices, and choosing another one switches back.
  auto* choice = window_->findChild<Scoreboard*>()->findChild<QComboBox*>("device");
  QCOMPARE(choice->currentText(), "measured on A CPU, 2 threads");
  choice->setCurrentIndex(0);
  emit choice->activated(0);
  QVERIFY(changed.wait(kPatienceMs));
  QCOMPARE(document().analysis().options.estimator.name, std::string("roofline"));
  qunsetenv("JOINTER_COSTS");
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::BenchmarkTest, "benchmark")
#include "benchmark_test.moc"
