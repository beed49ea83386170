// Tests of the window's shape: it fits on its screen, and nothing that is needed is cut off in a
// small window.

#include <QAbstractButton>
#include <QComboBox>
#include <QContextMenuEvent>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QScreen>
#include <QScrollBar>
#include <QTabBar>
#include <QTextBrowser>
#include <QTimer>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>

#include "app/desktop/window_geometry.h"
#include "core/open/open.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/paths.h"
#include "views/alive/alive_pane.h"
#include "views/compare/compare_pane.h"
#include "views/exposed/exposed_pane.h"
#include "views/history/history_model.h"
#include "views/history/history_pane.h"
#include "views/modules/modules_pane.h"
#include "views/operators/operators_pane.h"
#include "views/sac/sac_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/sac/sac_session.h"
#include "views/theme/spacing.h"
#include "views/timeline/ruler_painter.h"
#include "views/timeline/timeline_bar.h"
#include "views/widgets/elided_label.h"
#include "views/widgets/figure_box.h"
#include "views/widgets/histogram_plot.h"
#include "views/window/scoreboard.h"

namespace jointer {

using namespace views;
using test::child;
using test::kPatienceMs;

namespace {

// The size that a visible text needs; empty for widgets that may show less.
QSize needed(const QWidget& widget) {
  if (dynamic_cast<const ElidedLabel*>(&widget) != nullptr) return {};
  if (const auto* label = qobject_cast<const QLabel*>(&widget)) {
    const QSize min = label->minimumSizeHint();
    return label->wordWrap() ? QSize(0, min.height()) : min;
  }
  // Fusion's buttons ask for more than their texts need.
  if (const auto* button = qobject_cast<const QAbstractButton*>(&widget))
    return button->text().isEmpty()
               ? QSize()
               : button->fontMetrics().size(Qt::TextShowMnemonic, button->text());
  if (const auto* box = qobject_cast<const QComboBox*>(&widget)) return box->minimumSizeHint();
  return {};
}

// The texts in an area that are cut off.
QStringList cut_in(const QWidget& area) {
  QStringList cut;
  for (const QWidget* part : area.findChildren<QWidget*>()) {
    const QSize min = needed(*part);
    if (min.isEmpty() || !part->isVisible()) continue;
    const QRect place(part->mapTo(&area, QPoint()), part->size());
    if (part->size().expandedTo(min) == part->size() && area.rect().contains(place)) continue;
    cut << QStringLiteral("%1 %2 has %3x%4 of %5x%6")
               .arg(part->metaObject()->className(), part->objectName())
               .arg(part->width())
               .arg(part->height())
               .arg(min.width())
               .arg(min.height());
  }
  return cut;
}

}  // namespace

class ShapeTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { make_folder(); }
  void cleanup() { close_window(); }

  void fits_into_a_screen_data();
  void fits_into_a_screen();
  void the_first_window_fits_on_its_screen();
  void a_restored_window_fits_on_its_screen();
  void all_lanes_are_visible_data();
  void all_lanes_are_visible();
  void nothing_needed_is_cut_off_data() { all_lanes_are_visible_data(); }
  void nothing_needed_is_cut_off();
  void nothing_needed_is_cut_off_for_pairs_and_steps_data();
  void nothing_needed_is_cut_off_for_pairs_and_steps();
  void titles_on_tabs_of_docks_are_whole();
  void a_low_legend_counts_what_it_leaves_out();
  void the_legend_of_lanes_can_be_hidden();
  void compare_shows_the_numbers_of_the_plan_data();
  void compare_shows_the_numbers_of_the_plan();
  void differences_do_not_cut_the_header_data() {
    QTest::addColumn<int>("width");
    for (const int width : {1280, 1440, 1600}) QTest::addRow("%d", width) << width;
  }
  void differences_do_not_cut_the_header();
  void comparing_leaves_other_panes_in_place();
  void a_low_sac_pane_shows_rows();
  void a_histogram_leaves_rows();
  void the_ruler_shows_no_partial_labels();
  void columns_are_as_narrow_as_their_texts();
  void columns_give_way_in_a_narrow_pane_data();
  void columns_give_way_in_a_narrow_pane();
  void names_of_states_are_readable_data();
  void names_of_states_are_readable();
  void the_header_of_a_history_shows_hidden_columns();
  void tables_at_the_sides_show_their_numbers();
  void texts_give_way_to_numbers();
  void gains_of_exposed_collectives_are_not_cut_off();
  void nothing_is_empty_above_the_controls_of_a_pair();

 private:
  void open_sample() { QVERIFY(open_file(test::source_path(test::kSample))); }
  void resize_to(QSize size) {
    window_->resize(size);
    QTest::qWait(50);
  }
  // Opens the SAC pane and applies upstream's preset that recomputes everything.
  bool recompute_all();
  [[nodiscard]] QAction& legend_action() const {
    return *window_->findChild<QAction*>(QStringLiteral("lane_legend"));
  }
};

void ShapeTest::fits_into_a_screen_data() {
  QTest::addColumn<QRect>("before");
  QTest::addColumn<QRect>("available");
  QTest::addColumn<QRect>("fitted");
  const QRect screen(0, 0, 1280, 720);
  QTest::newRow("fits") << QRect(10, 20, 800, 600) << screen << QRect(10, 20, 800, 600);
  QTest::newRow("too large") << QRect(0, 0, 1600, 1000) << screen << screen;
  QTest::newRow("too far right") << QRect(900, 300, 800, 600) << screen
                                 << QRect(480, 120, 800, 600);
  QTest::newRow("on a screen that is gone")
      << QRect(-1900, -50, 800, 600) << screen << QRect(0, 0, 800, 600);
  QTest::newRow("below a panel") << QRect(0, 0, 1280, 720) << QRect(1280, 30, 1280, 690)
                                 << QRect(1280, 30, 1280, 690);
}

void ShapeTest::fits_into_a_screen() {
  QFETCH(QRect, before);
  QFETCH(QRect, available);
  QTEST(desktop::fitted(before, available), "fitted");
}

void ShapeTest::the_first_window_fits_on_its_screen() {
  settings_ = std::make_unique<QSettings>(folder_->filePath("settings.ini"), QSettings::IniFormat);
  const desktop::MainWindow window(*settings_, AnalysisOptions{}, service_,
                                   BenchmarkHistory(folder_->path().toStdString()));
  const QSize available = window.screen()->availableGeometry().size();
  QVERIFY2(window.width() <= available.width() && window.height() <= available.height(),
           qPrintable(QStringLiteral("%1x%2").arg(window.width()).arg(window.height())));
}

void ShapeTest::a_restored_window_fits_on_its_screen() {
  make_window();
  const QRect available = window_->screen()->availableGeometry();
  window_->setGeometry(available.translated(available.width() / 2, available.height() / 2));
  window_->close();
  close_window();
  settings_ = std::make_unique<QSettings>(folder_->filePath("settings.ini"), QSettings::IniFormat);
  const desktop::MainWindow again(*settings_, AnalysisOptions{}, service_,
                                  BenchmarkHistory(folder_->path().toStdString()));
  QVERIFY(available.contains(again.geometry()));
}

void ShapeTest::all_lanes_are_visible_data() {
  QTest::addColumn<QSize>("size");
  QTest::addColumn<QString>("pane");
  for (const QSize size : kSizes)
    for (const QString& pane : desktop::MainWindow::pane_names())
      QTest::addRow("%s at %dx%d", qPrintable(pane), size.width(), size.height()) << size << pane;
}

void ShapeTest::all_lanes_are_visible() {
  QFETCH(QSize, size);
  QFETCH(QString, pane);
  make_window();
  resize_to(size);
  open_sample();
  QVERIFY(show_pane<QWidget>(qPrintable(pane)) != nullptr);
  QTest::qWait(50);
  QCOMPARE(window_->size(), size);  // the panes' minimum sizes do not make it larger
  constexpr int kVisible = 8;
  const TimelineLayout& layout = timeline().layout();
  QVERIFY(layout.lane.size() >= 4);  // the CPU, compute, fsdp and tp
  for (const QRect& lane : layout.lane)
    QVERIFY2(lane.intersected(layout.lanes).height() >= kVisible,
             qPrintable(QStringLiteral("a lane at %1, the lanes at %2 with %3")
                            .arg(lane.top())
                            .arg(layout.lanes.top())
                            .arg(layout.lanes.height())));
  QCOMPARE(timeline().verticalScrollBar()->maximum(), 0);
  QVERIFY(layout.memory.height() >= 40);
  QVERIFY(!layout.lane_legend.intersects(layout.overview));
}

// The header, the bar of the timeline and the pane have space for their texts and buttons.
void ShapeTest::nothing_needed_is_cut_off() {
  QFETCH(QSize, size);
  QFETCH(QString, pane);
  make_window();
  resize_to(size);
  open_sample();
  const auto* shown = show_pane<QWidget>(qPrintable(pane));
  QVERIFY(shown != nullptr);
  const auto all_cut = [&] {
    return cut_in(*window_->menuWidget()) + cut_in(*window_->findChild<TimelineBar*>()) +
           cut_in(*shown);
  };
  // Results of computations may still arrive.
  QTest::qWait(50);
  QTRY_VERIFY2(all_cut().isEmpty(), qPrintable(all_cut().join(u'\n')));
}

void ShapeTest::nothing_needed_is_cut_off_for_pairs_and_steps_data() {
  QTest::addColumn<QSize>("size");
  QTest::addColumn<QString>("sample");
  for (const QSize size : kSizes)
    for (const char* sample :
         {"llama_debug_tp2_fsdp2.min_cut.json.zst", "llama_debug_fsdp2.train_step.json.zst"})
      QTest::addRow("%s at %dx%d", sample, size.width(), size.height()) << size << QString(sample);
}

// Their header and their SAC pane differ from those of a joint graph.
void ShapeTest::nothing_needed_is_cut_off_for_pairs_and_steps() {
  QFETCH(QSize, size);
  QFETCH(QString, sample);
  make_window();
  resize_to(size);
  QVERIFY(open_file(test::source_path("resources/samples/" + sample.toStdString())));
  const auto* shown = show_pane<SacPane>("sac");
  QVERIFY(shown != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(document().sac().state() != nullptr, kPatienceMs);
  const auto all_cut = [&] {
    return cut_in(*window_->menuWidget()) + cut_in(*window_->findChild<TimelineBar*>()) +
           cut_in(*shown);
  };
  QTest::qWait(50);
  QTRY_VERIFY2(all_cut().isEmpty(), qPrintable(all_cut().join(u'\n')));
  QCOMPARE(window_->size(), size);
}

// If there is not enough space, they scroll.
void ShapeTest::titles_on_tabs_of_docks_are_whole() {
  make_window();
  resize_to({1280, 800});
  open_sample();
  QTest::qWait(50);
  const QTabBar* middle = nullptr;
  for (const auto* bar : window_->findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
    for (int i = 0; i < bar->count(); ++i) {
      if (bar->tabText(i) == QStringLiteral("Tune")) middle = bar;
      const int width = bar->fontMetrics().horizontalAdvance(bar->tabText(i));
      QVERIFY2(bar->tabRect(i).width() >= width, qPrintable(bar->tabText(i)));
    }
  }
  QVERIFY(middle != nullptr && middle->isVisible());
  QVERIFY(middle->count() > 5);
}

void ShapeTest::a_low_legend_counts_what_it_leaves_out() {
  make_window();
  resize_to({1280, 720});
  open_sample();
  const QPoint on_legend = timeline().layout().legend.center();
  QVERIFY(timeline().card_at(on_legend).join(u' ').contains("tangents"));
  resize_to({1600, 1400});
  QVERIFY(timeline().card_at(timeline().layout().legend.center()).isEmpty());
}

void ShapeTest::the_legend_of_lanes_can_be_hidden() {
  make_window();
  open_sample();
  QVERIFY(timeline().layout().lane_legend.height() > 0);
  legend_action().trigger();
  QCOMPARE(timeline().layout().lane_legend.height(), 0);
  close_window();
  make_window();
  open_sample();
  QVERIFY(!legend_action().isChecked());
  QCOMPARE(timeline().layout().lane_legend.height(), 0);
}

bool ShapeTest::recompute_all() {
  auto* pane = show_pane<SacPane>("sac");
  if (pane == nullptr) return false;
  const SacSession& session = document().sac();
  const auto has_state = [&] { return session.state() != nullptr && session.is_settled(); };
  if (!QTest::qWaitFor(has_state, kPatienceMs)) return false;
  child<SacBar>(*pane).apply_preset(QStringLiteral("full"));
  return QTest::qWaitFor(
      [&] { return document().editing().entry_count() == 1 && session.is_settled(); }, kPatienceMs);
}

void ShapeTest::compare_shows_the_numbers_of_the_plan_data() {
  QTest::addColumn<QSize>("size");
  for (const QSize size : {QSize(1280, 800), QSize(1600, 1000), QSize(2560, 1440)})
    QTest::addRow("%dx%d", size.width(), size.height()) << size;
}

// The rows of the plan, and the peak, step and exposed time of the graph, without scrolling.
void ShapeTest::compare_shows_the_numbers_of_the_plan() {
  QFETCH(QSize, size);
  make_window();
  resize_to(size);
  open_sample();
  QVERIFY(recompute_all());
  auto* pane = show_pane<ComparePane>("compare");
  QVERIFY(pane != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(pane->comparison() != nullptr && pane->comparison()->plan, kPatienceMs);
  const auto& numbers = child<QTextBrowser>(*pane);
  const QString text = numbers.toPlainText();
  QVERIFY2(text.contains("As partitioned") && text.contains("Joint graph"), qPrintable(text));
  // Exposed is the last of these rows, first for the plan, then for the graph.
  const QTextDocument& page = *numbers.document();
  const QTextCursor plan =
      page.find(QStringLiteral("Exposed"), 0, QTextDocument::FindCaseSensitively);
  const QTextCursor graph =
      page.find(QStringLiteral("Exposed"), plan, QTextDocument::FindCaseSensitively);
  QVERIFY(!plan.isNull() && !graph.isNull());
  for (const char* row : {"Peak memory", "Step", "Saved", "On the host", "Recomputed"}) {
    const QTextCursor found = page.find(QLatin1String(row), 0, QTextDocument::FindCaseSensitively);
    QVERIFY2(!found.isNull() && found.position() < graph.position(), row);
  }
  QCOMPARE(numbers.verticalScrollBar()->value(), 0);
  QTRY_VERIFY2(numbers.viewport()->rect().contains(numbers.cursorRect(graph)),
               qPrintable(QStringLiteral("the row is at %1, the numbers have %2")
                              .arg(numbers.cursorRect(graph).bottom())
                              .arg(numbers.viewport()->height())));
  QCOMPARE(numbers.horizontalScrollBar()->maximum(), 0);
  QVERIFY2(cut_in(*pane).isEmpty(), qPrintable(cut_in(*pane).join(u'\n')));
}

// A narrow header leaves parts out in a fixed order; the tooltips have them.
void ShapeTest::differences_do_not_cut_the_header() {
  QFETCH(int, width);
  make_window();
  resize_to({width, 800});
  open_sample();
  QVERIFY(recompute_all());
  const auto cut = [this] { return cut_in(*window_->menuWidget()); };
  QTRY_VERIFY2(cut().isEmpty(), qPrintable(cut().join(u'\n')));
  const auto& scoreboard = child<Scoreboard>(*window_);
  const bool has_reserved = document().graph().main_device() == DeviceType::cuda;
  QString notes;
  for (const auto* box : scoreboard.findChildren<FigureBox*>()) notes += box->toolTip();
  for (auto* box : scoreboard.findChildren<FigureBox*>()) {
    const QString name = box->name();
    if (name == "Peak memory" || name == "Step" || name == "Compute" || name == "Exposed" ||
        name == "CPU wait" || name == "As partitioned") {
      QVERIFY2(box->isVisible(), qPrintable(name));
    } else if (name != "Measured" && (name != "Reserved" || has_reserved)) {
      QVERIFY2(box->isVisible() || notes.contains(name + ": " + box->value().text()),
               qPrintable(name));
    }
    QVERIFY2(box->was().isVisible() || box->was().text().isEmpty() || box->isHidden() ||
                 box->toolTip().contains(box->was().text()),
             qPrintable(name));
  }
  const QString estimator = QString::fromStdString(document().analysis().estimator);
  QVERIFY(child<QToolButton>(scoreboard, "estimates").toolTip().contains(estimator));
}

void ShapeTest::comparing_leaves_other_panes_in_place() {
  make_window();
  resize_to({1280, 800});
  open_sample();
  auto* operators = show_pane<OperatorsPane>("operators");
  QVERIFY(operators != nullptr);
  QTest::qWait(50);
  const int width = operators->width();
  auto* compare = show_pane<ComparePane>("compare");
  QVERIFY(compare != nullptr);
  QTRY_VERIFY(compare->isVisible());
  QTest::qWait(50);
  QCOMPARE(operators->width(), width);
}

void ShapeTest::a_low_sac_pane_shows_rows() {
  make_window();
  resize_to({1280, 800});
  open_sample();
  auto* pane = show_pane<SacPane>("sac");
  QVERIFY(pane != nullptr);
  QTRY_VERIFY_WITH_TIMEOUT(document().sac().state() != nullptr, kPatienceMs);
  const QWidget& rows = *child<SacTable>(*pane).view().viewport();
  QTRY_VERIFY2(rows.height() >= 6 * kTableRowHeight,
               qPrintable(QStringLiteral("the rows have %1, the pane has %2")
                              .arg(rows.height())
                              .arg(pane->height())));
  // The controls are in one row, and the numbers are still there.
  const auto& bar = child<SacBar>(*pane);
  const int first = child<QComboBox>(bar, "partitioner").geometry().center().y();
  const int last = child<QPushButton>(bar, "solve").geometry().center().y();
  QVERIFY2(std::abs(first - last) <= 2, qPrintable(QString::number(last - first)));
  QVERIFY(child<QLabel>(*pane, "what_if").text().contains("peak"));
  QVERIFY2(cut_in(*pane).isEmpty(), qPrintable(cut_in(*pane).join(u'\n')));
}

void ShapeTest::a_histogram_leaves_rows() {
  make_window();
  resize_to({1280, 800});
  open_sample();
  auto* pane = show_pane<OperatorsPane>("operators");
  QVERIFY(pane != nullptr);
  QTRY_VERIFY(pane->model().row_count() > 0);
  TableView& view = pane->view();
  // The lowest row on screen with several calls.
  QModelIndex low;
  for (QModelIndex at = view.indexAt({5, 5});
       at.isValid() && view.visualRect(at).bottom() < view.viewport()->height();
       at = view.indexBelow(at))
    if (pane->model().nodes(TableModel::row_at(at)).size() > 1) low = at;
  QVERIFY(low.isValid());
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(low).center());
  QTRY_VERIFY(child<HistogramPlot>(*pane).isVisible());
  QTRY_VERIFY2(view.viewport()->height() >= 4 * kTableRowHeight,
               qPrintable(QString::number(view.viewport()->height())));
  // The histogram does not cover the row that it describes.
  const auto is_visible = [&] {
    const QRect row = view.visualRect(low);
    return row.top() >= 0 && row.bottom() < view.viewport()->height();
  };
  QTRY_VERIFY(is_visible());
}

void ShapeTest::the_ruler_shows_no_partial_labels() {
  make_window();
  open_sample();
  const std::size_t all = RulerPainter(timeline().scene()).labels().size();
  QVERIFY(all > 1);
  bool is_one_left_out = false;
  for (std::size_t moment = 0; moment < timeline().content().data().point_count(); moment += 7) {
    document().selection().set_moment(moment);
    const TimelineScene scene = timeline().scene();
    const RulerPainter ruler(scene);
    for (const RulerPainter::Label& label : ruler.labels())
      QVERIFY2(!label.place.intersects(ruler.moment_box()), qPrintable(label.text));
    is_one_left_out = is_one_left_out || ruler.labels().size() < all;
  }
  QVERIFY(is_one_left_out);
}

void ShapeTest::columns_are_as_narrow_as_their_texts() {
  constexpr int kWidest = 60;
  make_window();
  open_sample();
  auto* pane = show_pane<HistoryPane>("history");
  QVERIFY(pane != nullptr);
  const auto& steps = child<TableView>(*pane, "steps");
  QTRY_VERIFY2(steps.columnWidth(HistoryModel::place_column) < kWidest,
               qPrintable(QString::number(steps.columnWidth(HistoryModel::place_column))));
}

void ShapeTest::columns_give_way_in_a_narrow_pane_data() {
  QTest::addColumn<QSize>("size");
  for (const QSize size : kSizes) QTest::addRow("%dx%d", size.width(), size.height()) << size;
}

// The tables of History and SAC do not scroll sideways; the columns return in a wide pane.
void ShapeTest::columns_give_way_in_a_narrow_pane() {
  QFETCH(QSize, size);
  make_window();
  resize_to(size);
  open_sample();
  QVERIFY(recompute_all());
  auto* sac = qobject_cast<SacPane*>(window_->dock("sac")->pane());
  TableView& tensors = child<SacTable>(*sac).view();
  QTRY_VERIFY(tensors.model()->rowCount() > 0);
  QTRY_COMPARE(tensors.horizontalScrollBar()->maximum(), 0);
  QVERIFY(!tensors.isColumnHidden(SacModel::policy_column));
  QVERIFY(!tensors.isColumnHidden(SacModel::bytes_column));
  QVERIFY(tensors.isColumnHidden(SacModel::module_column));
  auto* history = show_pane<HistoryPane>("history");
  QVERIFY(history != nullptr);
  auto& steps = child<TableView>(*history, "steps");
  QTRY_VERIFY(steps.model()->rowCount() == 2);
  QTRY_COMPARE(steps.horizontalScrollBar()->maximum(), 0);
  QVERIFY(!steps.isColumnHidden(HistoryModel::peak_change_column));
  QVERIFY(!steps.isColumnHidden(HistoryModel::step_change_column));
  // As in a floating pane. A column that the user chose stays.
  steps.choose_column(HistoryModel::exposed_column, true);
  steps.resize(1400, steps.height());
  QVERIFY(!steps.isColumnHidden(HistoryModel::peak_column));
  steps.resize(260, steps.height());
  QVERIFY(steps.isColumnHidden(HistoryModel::peak_column));
  QVERIFY(!steps.isColumnHidden(HistoryModel::exposed_column));
}

void ShapeTest::names_of_states_are_readable_data() {
  QTest::addColumn<QSize>("size");
  QTest::addColumn<int>("width");
  for (const QSize size : kSizes)
    QTest::addRow("%dx%d", size.width(), size.height()) << size << (size.width() < 1600 ? 96 : 140);
}

void ShapeTest::names_of_states_are_readable() {
  QFETCH(QSize, size);
  QFETCH(int, width);
  make_window();
  resize_to(size);
  open_sample();
  QVERIFY(recompute_all());
  auto* pane = show_pane<HistoryPane>("history");
  QVERIFY(pane != nullptr);
  const auto& steps = child<TableView>(*pane, "steps");
  const auto& states = child<TableView>(*pane, "states");
  QTRY_COMPARE(steps.model()->rowCount(), 2);
  auto& name = child<QLineEdit>(*pane, "name");
  QTest::keyClicks(&name, "everything is recomputed");
  QTest::keyClick(&name, Qt::Key_Return);
  QTRY_COMPARE(states.model()->rowCount(), 1);
  for (const TableView* view : {&steps, &states}) {
    QTRY_VERIFY2(view->columnWidth(HistoryModel::title_column) >= width,
                 qPrintable(QString::number(view->columnWidth(HistoryModel::title_column))));
    QTRY_COMPARE(view->horizontalScrollBar()->maximum(), 0);
    // An action that is cut off still says what was moved.
    const QString action = QStringLiteral("Move all_gather_into_tensor_3 to the best position");
    QVERIFY(view->fontMetrics()
                .elidedText(action, view->textElideMode(), width)
                .startsWith("Move all"));
    // No title is cut off.
    for (int column = 0; column < view->model()->columnCount(); ++column)
      QVERIFY2(view->columnWidth(column) >= view->header()->sectionSizeHint(column),
               qPrintable(QString::number(column)));
  }
}

// Columns for which the pane is too narrow return by the menu of the header.
void ShapeTest::the_header_of_a_history_shows_hidden_columns() {
  make_window();
  resize_to({1280, 800});
  open_sample();
  auto* pane = show_pane<HistoryPane>("history");
  QVERIFY(pane != nullptr);
  auto& steps = child<TableView>(*pane, "steps");
  QTRY_VERIFY(steps.isColumnHidden(HistoryModel::peak_column));
  bool is_done = false;
  QTimer::singleShot(0, &steps, [&] {
    QWidget* menu = QApplication::activePopupWidget();
    if (menu == nullptr) return;
    for (QAction* action : menu->actions()) {
      if (action->text() != "peak") continue;
      action->trigger();
      is_done = true;
    }
    menu->close();
  });
  const QPoint at(5, 5);
  QWidget* header = steps.header()->viewport();
  QContextMenuEvent event(QContextMenuEvent::Mouse, at, header->mapToGlobal(at));
  QApplication::sendEvent(header, &event);
  QVERIFY(is_done);
  QVERIFY(!steps.isColumnHidden(HistoryModel::peak_column));
}

void ShapeTest::tables_at_the_sides_show_their_numbers() {
  make_window();
  open_sample();
  const auto shows = [](const TableView& view, std::initializer_list<int> columns) {
    return std::ranges::all_of(columns, [&](int column) {
      const int end = view.columnViewportPosition(column) + view.columnWidth(column);
      return !view.isColumnHidden(column) && end <= view.viewport()->width();
    });
  };
  auto* modules = show_pane<ModulesPane>("modules");
  QVERIFY(modules != nullptr);
  QTRY_VERIFY(modules->view().model()->rowCount() > 0);
  QTRY_VERIFY(shows(modules->view(), {ModuleModel::saved_column, ModuleModel::forward_column,
                                      ModuleModel::backward_column}));
  auto* alive = show_pane<AlivePane>("alive");
  QVERIFY(alive != nullptr);
  QTRY_VERIFY(alive->view().model()->rowCount() > 0);
  QTRY_VERIFY(shows(alive->view(), {AliveModel::bytes_column, AliveModel::category_column}));
  auto* operators = show_pane<OperatorsPane>("operators");
  QVERIFY(operators != nullptr);
  const TableView& view = operators->view();
  QTRY_VERIFY(view.model()->rowCount() > 0);
  QTRY_VERIFY(shows(view, {OperatorModel::time_column, OperatorModel::exposed_column}));
  // Names that are elided still differ, such as those of two collectives.
  QStringList names;
  bool is_one_elided = false;
  for (int row = 0; row < view.model()->rowCount(); ++row) {
    const QString name = view.model()->index(row, OperatorModel::name_column).data().toString();
    names << view.fontMetrics().elidedText(name, view.textElideMode(),
                                           view.columnWidth(OperatorModel::name_column) - 10);
    is_one_elided = is_one_elided || names.back() != name;
  }
  QVERIFY(is_one_elided);
  QCOMPARE(names.removeDuplicates(), 0);
}

// As in the History pane of a small window whose font is large, next to a scroll bar.
void ShapeTest::texts_give_way_to_numbers() {
  HistoryModel model({"1 state", "%1 states"}, "the previous state");
  const Figures before{.peak_bytes = 2000 << 20, .step_ns = 700'000'000, .exposed_ns = 90'000'000},
      after{.peak_bytes = 998 << 20, .step_ns = 512'000'000, .exposed_ns = 11'000'000};
  model.set({{.place = "1", .title = QString(80, u'x'), .figures = after, .before = before}});
  TableView view(model);
  view.set_flat();
  view.setSortingEnabled(false);
  view.resize(1400, 200);
  view.show();
  view.fit_columns();
  const std::array kept{HistoryModel::place_column, HistoryModel::peak_change_column,
                        HistoryModel::step_change_column};
  int width = 60;  // less than a text column usually keeps
  for (const int column : kept) width += view.columnWidth(column);
  view.resize(width, 200);
  QTRY_COMPARE(view.viewport()->width(), width);
  for (const int column : kept) {
    QVERIFY(!view.isColumnHidden(column));
    QVERIFY(view.columnWidth(column) >= view.sizeHintForIndex(model.index_of(0, column)).width());
    QVERIFY(view.columnViewportPosition(column) + view.columnWidth(column) <= width);
  }
  const QModelIndex title = model.index_of(0, HistoryModel::title_column);
  QCOMPARE(model.data(title, Qt::ToolTipRole).toString().section(u'\n', 0, 0), QString(80, u'x'));
}

void ShapeTest::gains_of_exposed_collectives_are_not_cut_off() {
  make_window();
  open_sample();
  auto* pane = show_pane<ExposedPane>("exposed");
  QVERIFY(pane != nullptr);
  const TableView& view = pane->view();
  QTRY_VERIFY(view.model()->rowCount() > 0);
  const auto end_of = [&](int column) {
    return view.columnViewportPosition(column) + view.columnWidth(column);
  };
  QTRY_VERIFY2(end_of(ExposedModel::layers_column) <= view.viewport()->width(),
               qPrintable(QStringLiteral("it ends at %1 of %2")
                              .arg(end_of(ExposedModel::layers_column))
                              .arg(view.viewport()->width())));
}

// The plan of a pair cannot be changed, so it has no previews, and no space for them.
void ShapeTest::nothing_is_empty_above_the_controls_of_a_pair() {
  auto graph = open_graph(
      {.path = test::source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")});
  QVERIFY(graph);
  Document opened(OpenRequest{.path = "pair"}, *make_snapshot(*std::move(graph), {}));
  SacPane pane(opened);
  pane.resize(800, 700);
  pane.show();
  QTRY_VERIFY_WITH_TIMEOUT(opened.sac().state() != nullptr, kPatienceMs);
  const auto& figures = child<SacFigures>(pane);
  const auto& button = child<QPushButton>(pane, "to_joint");
  QTRY_VERIFY(button.isVisible());
  const auto space = [&] {
    int bottom = 0;  // of the numbers
    for (const auto* box : figures.findChildren<FigureBox*>())
      if (box->isVisible())
        bottom = std::max(bottom, box->mapTo(&pane, QPoint(0, box->height())).y());
    return button.mapTo(&pane, QPoint()).y() - bottom;
  };
  QTRY_VERIFY2(space() <= 2 * kMargin, qPrintable(QString::number(space())));
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::ShapeTest, "shape")
#include "shape_test.moc"
