// A range that is dragged on the timeline drives the panes, and the memory curve zooms vertically.

#include <QStatusBar>
#include <QTest>
#include <QToolButton>
#include <QWheelEvent>
#include <optional>
#include <set>

#include "core/schedule/range_figures.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/timeline_hand.h"
#include "views/alive/alive_pane.h"
#include "views/inspector/inspector_pane.h"
#include "views/modules/modules_pane.h"
#include "views/operators/operators_pane.h"
#include "views/session/document/marks.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"
#include "views/tables/call_histogram.h"
#include "views/timeline/timeline_hits.h"
#include "views/timeline/timeline_view.h"
#include "views/widgets/range_chip.h"

namespace jointer {
namespace {

using namespace views;
using test::kPatienceMs;

std::int64_t total(const TableModel& model, int column) {
  return model.totals().by_column[static_cast<std::size_t>(column)].value_or(0);
}

}  // namespace

class RangeTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { QVERIFY(open_sample()); }
  void cleanup() { close_window(); }

  void a_range_drives_the_panes_data() { add_sizes(); }
  void a_range_drives_the_panes();
  void a_range_in_program_order_is_a_range_of_time();
  void a_click_in_the_range_keeps_it();
  void ctrl_click_adds_and_removes_a_folded_run();
  void the_step_between_marks_is_a_range();
  void the_memory_curve_zooms_vertically_data() { add_sizes(); }
  void the_memory_curve_zooms_vertically();
  void calls_have_a_histogram_data() { add_sizes(); }
  void calls_have_a_histogram();
  void calls_of_a_module_have_a_histogram_data();
  void calls_of_a_module_have_a_histogram();

 private:
  [[nodiscard]] Selection& selection() const { return document().selection(); }
  void drag(double from, double to) const { test::drag_range(timeline(), from, to); }
  [[nodiscard]] RangeFigures figures() const {
    return {document().graph(), document().analysis(), *selection().range()};
  }
  void turn_wheel(QPoint at, int notches, Qt::KeyboardModifiers modifiers) const {
    QWidget* area = timeline().viewport();
    QWheelEvent event(at, area->mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, modifiers,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(area, &event);
  }
};

void RangeTest::a_range_drives_the_panes() {
  resize();
  auto* modules = show_pane<ModulesPane>("modules");
  auto* inspector = show_pane<InspectorPane>("inspector");
  QVERIFY(modules != nullptr && inspector != nullptr);
  const std::int64_t whole = total(modules->model(), ModuleModel::forward_column) +
                             total(modules->model(), ModuleModel::backward_column);
  drag(0.25, 0.75);
  QVERIFY(selection().range().has_value());
  const std::int64_t step = document().analysis().simulation.step_ns();
  QVERIFY(std::abs(selection().range()->begin - step / 4) < step / 50);
  QVERIFY(std::abs(selection().range()->end - step * 3 / 4) < step / 50);
  const auto ns_of = [&] {
    return total(modules->model(), ModuleModel::forward_column) +
           total(modules->model(), ModuleModel::backward_column);
  };
  const RangeTotals totals = figures().totals();
  QTRY_COMPARE(ns_of(), totals.compute_ns + totals.communication_ns);
  QTRY_VERIFY(!inspector->content().sections.empty());
  QVERIFY(inspector->content().sections.front().title.startsWith("Range "));
  QVERIFY(inspector->page().toPlainText().contains(bytes_text(totals.allocated_bytes)));
  // The chip names the range.
  auto& chip = test::child<RangeChip>(*modules);
  QVERIFY(chip.isVisible());
  QVERIFY(chip.text().contains(
      short_time_range_text(selection().range()->begin, selection().range()->end)));
  QVERIFY(modules->rect().contains(chip.geometry()));

  auto* operators = show_pane<OperatorsPane>("operators");
  auto* alive = show_pane<AlivePane>("alive");
  QVERIFY(operators != nullptr && alive != nullptr);
  QTRY_COMPARE(total(operators->model(), OperatorModel::exposed_column), totals.exposed_ns);
  QTRY_VERIFY(alive->model().sentence().contains(bytes_text(totals.allocated_bytes)));
  QVERIFY(alive->model().sentence().contains(bytes_text(totals.freed_bytes)));
  QVERIFY(!alive->view().isColumnHidden(AliveModel::change_column));

  // A click on the chip shows the whole step again.
  modules = show_pane<ModulesPane>("modules");
  QTest::mouseClick(&chip, Qt::LeftButton);
  QVERIFY(!selection().range());
  QTRY_COMPARE(ns_of(), whole);
  QVERIFY(!chip.isVisible());
  alive = show_pane<AlivePane>("alive");
  QTRY_VERIFY(alive->view().isColumnHidden(AliveModel::change_column));

  // So does Esc.
  drag(0.5, 0.9);
  QVERIFY(selection().range().has_value());
  QTest::keyClick(&timeline(), Qt::Key_Escape);
  QVERIFY(!selection().range());
  QTRY_COMPARE(ns_of(), whole);
}

void RangeTest::a_range_in_program_order_is_a_range_of_time() {
  QTest::keyClick(&timeline(), Qt::Key_G);
  QCOMPARE(timeline().content().kind(), AxisKind::program_order);
  drag(0.2, 0.4);
  const auto range = selection().range();
  QVERIFY(range && range->length() > 0);
  // The same range is drawn at the same position.
  const auto [begin, end] = timeline().content().positions_of(*range);
  const auto length = static_cast<double>(timeline().content().axis_length());
  QVERIFY(std::abs(static_cast<double>(begin) / length - 0.2) < 0.02);
  QVERIFY(std::abs(static_cast<double>(end) / length - 0.4) < 0.02);
  // Dragging over everything selects the whole step.
  drag(0, 1.02);
  QCOMPARE(*selection().range(), whole_step(document().analysis().simulation));
}

void RangeTest::a_click_in_the_range_keeps_it() {
  drag(0.3, 0.6);
  const auto range = selection().range();
  const QRect area = timeline().layout().memory;
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {},
                    {area.left() + area.width() * 4 / 10, area.center().y()});
  QVERIFY(selection().range() == range);
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {},
                    {area.left() + area.width() * 8 / 10, area.center().y()});
  QVERIFY(!selection().range());
}

void RangeTest::ctrl_click_adds_and_removes_a_folded_run() {
  timeline().content().set_kind(AxisKind::estimated_time);
  timeline().range().fit();
  std::optional<QPoint> at;
  std::set<NodeId> folded;
  for (std::size_t row = 0; row < timeline().content().rows().size() && !at; ++row) {
    const LaneTrack track = timeline().scene().lane_track(row);
    const auto items = timeline().content().lane(timeline().content().rows()[row]).items();
    for (const LaneRun& run : track.runs()) {
      if (!run.is_folded()) continue;
      at = QPoint(run.left, timeline().layout().lane[row].center().y());
      for (std::size_t i = run.first; i < run.last; ++i) folded.insert(items[i].node);
      break;
    }
  }
  QVERIFY(at.has_value());
  const NodeId other = document().graph().order().front();
  QVERIFY(!folded.contains(other));
  selection().select(other);
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, Qt::ControlModifier, *at);
  QCOMPARE(selection().nodes().size(), folded.size() + 1);
  QVERIFY(selection().contains(other));
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, Qt::ControlModifier, *at);
  QCOMPARE(selection().nodes().size(), 1U);
  QCOMPARE(selection().current(), other);
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {}, *at);
  QCOMPARE(selection().nodes().size(), folded.size());
}

void RangeTest::the_step_between_marks_is_a_range() {
  timeline().setFocus();
  const std::size_t points = document().analysis().memory.profile().size();
  QTest::keyClick(&timeline(), Qt::Key_M, Qt::ShiftModifier);
  QVERIFY2(!selection().range(), "there are no marks");
  const auto* status = window_->findChild<QStatusBar*>();
  QCOMPARE(status->currentMessage(), "Mark two moments first: select each and press M.");
  const auto mark = [&](std::size_t moment) {
    selection().set_moment(moment);
    QTest::keyClick(&timeline(), Qt::Key_M);
  };
  const TimelineData& time = document().snapshot().estimated_time;
  std::size_t repeated = 1;
  while (repeated < points && time.position(repeated) != time.position(repeated - 1)) ++repeated;
  QVERIFY(repeated < points);
  mark(repeated - 1);
  mark(repeated);
  QTest::keyClick(&timeline(), Qt::Key_M, Qt::ShiftModifier);
  QVERIFY2(!selection().range(), "both marks are at the same time");
  QVERIFY2(status->currentMessage().startsWith("All marks are at the same estimated time."),
           qPrintable(status->currentMessage()));
  mark(repeated - 1);
  mark(repeated);
  QVERIFY2(document().marks().all().empty(), "the second time, a mark is removed");

  mark(points / 4);
  mark(points / 2);
  QCOMPARE(document().marks().all().size(), 2U);
  QTest::keyClick(&timeline(), Qt::Key_M, Qt::ShiftModifier);
  QVERIFY(selection().range() == (TimeRange{time.position(points / 4), time.position(points / 2)}));
}

void RangeTest::the_memory_curve_zooms_vertically() {
  resize();
  TimelineView& view = timeline();
  const QRect area = view.layout().memory;
  const QPoint at(area.center().x(), area.top() + area.height() / 4);
  const std::int64_t there = view.scene().memory_track().bytes_at(at.y());
  const BytesView whole = view.scene().bytes;
  const double begin = view.range().axis().begin(), end = view.range().axis().end();
  turn_wheel(at, 6, Qt::ControlModifier | Qt::ShiftModifier);
  const BytesView zoomed = view.scene().bytes;
  QVERIFY(zoomed.span() < whole.span() / 3);
  QVERIFY(zoomed.bottom > 0);
  QVERIFY(std::abs(view.scene().memory_track().bytes_at(at.y()) - there) < whole.span() / 100);
  QCOMPARE(view.range().axis().begin(), begin);
  QCOMPARE(view.range().axis().end(), end);
  turn_wheel(at, -1, Qt::ShiftModifier);
  QVERIFY(view.scene().bytes.bottom < zoomed.bottom);
  // The text under the pointer names the category and the time.
  const auto category =
      view.scene().memory_track().category_at(*hit_timeline(view.scene(), at).point, at.y());
  const QStringList lines = view.card_at(at);
  QVERIFY(!lines.isEmpty());
  QVERIFY(!category || !lines.filter(category_label(*category)).isEmpty());
  const AxisView& axis = view.range().axis();
  QCOMPARE(lines.front(),
           view.content().position_text(axis.to_position(at.x()), 1 / axis.pixels_per_unit()));
  // The time has as many digits as the axis needs.
  const auto middle = static_cast<std::int64_t>(end / 2);
  view.range().show(middle, middle + static_cast<std::int64_t>(end / 40), 0);
  QVERIFY(view.card_at(at).front() != view.card_at(at + QPoint(1, 0)).front());
  view.range().show(static_cast<std::int64_t>(begin), static_cast<std::int64_t>(end), 0);
  // A second press of the middle button pans, like the first.
  const BytesView before = view.scene().bytes;
  QTest::mouseDClick(view.viewport(), Qt::MiddleButton, {}, at);
  QTest::mouseRelease(view.viewport(), Qt::MiddleButton, {}, at);
  QCOMPARE(view.scene().bytes.bottom, before.bottom);
  QCOMPARE(view.scene().bytes.top, before.top);
  QTest::mouseDClick(view.viewport(), Qt::LeftButton, {}, at);
  QCOMPARE(view.scene().bytes.bottom, 0);
  QCOMPARE(view.scene().bytes.top, whole.top);
}

void RangeTest::calls_have_a_histogram() {
  QFETCH(QSize, size);
  window_->resize(size);
  auto* operators = show_pane<OperatorsPane>("operators");
  QVERIFY(operators != nullptr);
  QTRY_VERIFY(operators->model().row_count() > 0);
  auto& histogram = test::child<QWidget>(*operators, "histogram");
  QVERIFY2(!histogram.isVisible(), "no row is selected");
  int row = 0;
  while (operators->model().text(row, 0) != "aten.mm.default") ++row;
  TableView& view = operators->view();
  const QModelIndex index = operators->model().index_of(row);
  view.scrollTo(index);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(index).center());
  QTRY_VERIFY(histogram.isVisible());
  auto& plot = test::child<HistogramPlot>(*operators);
  QVERIFY(plot.bins().size() > 1);
  std::size_t count = 0;
  for (const ValueBin& bin : plot.bins()) count += bin.count();
  QCOMPARE(count, operators->model().nodes(row).size());
  QVERIFY(window_->size() == size);
  // The numbers come first, since the end of the text is cut off in a narrow pane.
  const QString text = test::child<QLabel>(*operators, "distribution").text();
  QVERIFY2(text.startsWith(counted_text(count, "1 call", "%1 calls")), qPrintable(text));
  QVERIFY(text.endsWith("aten.mm.default"));
  // A click on a bar selects its calls; the row stays selected.
  std::size_t tallest = 0;
  for (std::size_t i = 0; i < plot.bins().size(); ++i)
    if (plot.bins()[i].count() > plot.bins()[tallest].count()) tallest = i;
  const ValueBin bin = plot.bins()[tallest];
  QTest::mouseClick(&plot, Qt::LeftButton, {}, plot.column(tallest).center());
  QCOMPARE(selection().nodes().size(), bin.count());
  for (const NodeId node : selection().nodes()) {
    const std::int64_t ns = document().analysis().costs[node.index()].ns;
    QVERIFY(ns >= bin.low && ns <= bin.high);
  }
  QCOMPARE(view.selected_rows(), std::vector{row});
  plot.setFocus();
  QTest::keyClick(&plot, Qt::Key_Right);
  QVERIFY(!plot.accessibleDescription().isEmpty());
  // The sizes of the outputs.
  for (QToolButton* button : histogram.findChildren<QToolButton*>())
    if (button->text() == "Output") button->click();
  QVERIFY2(plot.accessibleDescription().isEmpty(), "the bar was one of the times");
  count = 0;
  for (const ValueBin& each : plot.bins()) count += each.count();
  QCOMPARE(count, operators->model().nodes(row).size());
  // In a range, only the parts of the calls in it count, as in the table.
  for (QToolButton* button : histogram.findChildren<QToolButton*>())
    if (button->text() == "Time") QTest::mouseClick(button, Qt::LeftButton);
  const NodeId cut = operators->model().nodes(row)[1];
  const NodeTiming& timing = document().analysis().simulation.timing(cut);
  const std::int64_t middle = (timing.start + timing.end) / 2;
  selection().set_range(TimeRange{.begin = 0, .end = middle});
  const RangeFigures clipped = figures();
  const auto shown_calls = [&] {
    std::size_t calls = 0;
    for (const ValueBin& each : plot.bins()) calls += each.count();
    return calls;
  };
  QTRY_COMPARE(shown_calls(), 2U);
  QVERIFY(clipped.ns(cut) < document().analysis().costs[cut.index()].ns);
  QCOMPARE(plot.bins().front().low, clipped.ns(cut));
}

void RangeTest::calls_of_a_module_have_a_histogram_data() {
  QTest::addColumn<QString>("sample");
  QTest::newRow("joint graph") << QString(test::kSample);
  QTest::newRow("pair") << QString("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst");
  QTest::newRow("flat step") << QString("resources/samples/llama_debug_fsdp2.train_step.json.zst");
}

void RangeTest::calls_of_a_module_have_a_histogram() {
  QFETCH(const QString, sample);
  if (sample != test::kSample) {
    close_window();
    make_window();
    QVERIFY(open_file(test::source_path(sample.toStdString())));
  }
  auto* modules = show_pane<ModulesPane>("modules");
  QVERIFY(modules != nullptr);
  QTRY_VERIFY(modules->model().row_count() > 0);
  TableView& view = modules->view();
  const QModelIndex index = modules->model().index(0, 0);
  QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(index).center());
  QTRY_VERIFY(test::child<QWidget>(*modules, "histogram").isVisible());
  std::set<NodeId> calls;
  for (const NodeId node : modules->model().nodes(TableModel::row_at(index)))
    if (document().graph().node(node).kind == NodeKind::call) calls.insert(node);
  auto& plot = test::child<HistogramPlot>(*modules);
  std::size_t count = 0, tallest = 0;
  for (std::size_t i = 0; i < plot.bins().size(); ++i) {
    count += plot.bins()[i].count();
    if (plot.bins()[i].count() > plot.bins()[tallest].count()) tallest = i;
  }
  QCOMPARE(count, calls.size());
  const std::size_t chosen = plot.bins()[tallest].count();
  QTest::mouseClick(&plot, Qt::LeftButton, {}, plot.column(tallest).center());
  QCOMPARE(selection().nodes().size(), chosen);
  for (const NodeId node : selection().nodes()) QVERIFY(calls.contains(node));
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::RangeTest, "range")
#include "range_test.moc"
