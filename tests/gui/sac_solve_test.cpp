// Tests how plans are found in the SAC pane by mouse, keyboard and files: budgets, solvers, limits,
// the peak, imported lists.

#include <QClipboard>
#include <cmath>

#include "core/base/bytes.h"
#include "core/policy/export.h"
#include "core/policy/import.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/gui/timeline_hand.h"
#include "tests/support/child.h"
#include "views/sac/policy_exchange.h"
#include "views/session/edit/editing.h"
#include "views/session/text/number_text.h"
#include "views/timeline/plan_overlay.h"
#include "views/window/scoreboard.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kPatienceMs;
using test::kSample;
using test::kSearchMs;
using test::type;

constexpr double kGib = 1 << 30;

}  // namespace

class SacSolveTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }

  void slider_previews_and_solves();
  void keys_move_the_slider_and_enter_solves();
  void one_limit_has_one_answer_data();
  void one_limit_has_one_answer();
  void dragging_a_limit_previews_the_curve();
  void a_plan_that_does_not_fit_is_not_used();
  void reserved_memory_is_limited();
  void named_states_have_reserved_memory();
  void named_states_are_asked_for_again();
  void the_solver_is_chosen();
  void the_timeline_shows_the_plan();
  void the_plan_keeps_its_row_after_a_move();
  void the_card_of_a_range_is_above_the_plan();
  void click_on_the_timelines_peak_shows_its_tensors();
  void offloading_is_shown_everywhere();
  void several_rows_are_ticked_by_one_switch_and_undone();
  void reserved_is_that_of_the_pair();
  void one_button_cancels_a_search();
  void uses_the_fastest_plan_that_fits();
  void the_fastest_plan_is_no_slower_than_the_curve();
  void uses_the_smallest_plan_within_the_time_limit();
  void limits_match_the_command_line();
  void limits_match_the_command_line_data();
  void clicked_point_has_the_drawn_figures();
  void clicked_point_has_the_drawn_figures_data();
  void imports_formats_of_other_programs();
  void imports_formats_of_other_programs_data();
  void failed_imports_and_exports_are_shown_in_a_dialog();

 private:
  [[nodiscard]] QComboBox& unit() const { return child<QComboBox>(bar().budget(), "unit"); }
  void choose_unit(const QString& text) { test::choose(unit(), text); }
  bool wait_for_search() {
    return QTest::qWaitFor([this] { return !session().pareto().is_running(); }, kSearchMs) &&
           settle() && settle_order();
  }
  [[nodiscard]] QDoubleSpinBox& limit_box() const {
    return child<QDoubleSpinBox>(pareto(), "limit");
  }
  [[nodiscard]] const SacBase& base() const { return *session().state()->base; }
  [[nodiscard]] std::optional<PlanFigures> promised() const {
    const auto& preview = session().shown_preview();
    return preview && preview->outcome ? std::optional(preview->outcome->figures) : std::nullopt;
  }
  // In the order found.
  [[nodiscard]] std::optional<Figures> promised_in_order() const {
    const auto& preview = session().shown_preview();
    const bool is_fit =
        preview && preview->outcome && preview->plan_request && preview->plan_request->fit;
    return is_fit ? std::optional(preview->plan_request->fit->point.figures.figures) : std::nullopt;
  }
  [[nodiscard]] QString card_in_the_middle() const {
    const QRect area = timeline().layout().memory;
    return timeline().card_at(area.center()).join(u'\n');
  }
  // Where the timeline marks the peak of the plan.
  [[nodiscard]] std::optional<QPoint> peak_place() const {
    const TimelineScene scene = timeline().scene();
    return PlanOverlay(scene).peak();
  }
};

void SacSolveTest::slider_previews_and_solves() {
  QVERIFY(open(kSample));
  const PlanFigures before = figures();
  auto& slider = child<QSlider>(bar());
  const auto at = [&](double share) {
    return QPoint(static_cast<int>(share * slider.width()), slider.height() / 2);
  };
  QTest::mousePress(&slider, Qt::LeftButton, {}, at(0.9));
  for (const double share : {0.7, 0.5, 0.3, 0.05}) {
    QMouseEvent move(QEvent::MouseMove, at(share), slider.mapToGlobal(at(share)), Qt::NoButton,
                     Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&slider, &move);
  }
  QVERIFY(bar().budget().box().value() < 0.2);
  QTRY_VERIFY_WITH_TIMEOUT(
      session().is_settled() && promised() &&
          session().shown_preview()->settings->activation_budget == bar().budget().box().value(),
      kPatienceMs);
  QVERIFY(figures_row().what_if().contains("solve"));
  QCOMPARE(figures(), before);
  QCOMPARE(editing().entry_count(), 0);
  const PlanFigures previewed = *promised();
  QVERIFY(previewed.saved_bytes < before.saved_bytes);
  QTest::mouseRelease(&slider, Qt::LeftButton, {}, at(0.05));
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(figures(), previewed);
  QCOMPARE(base().settings.activation_budget, bar().budget().box().value());
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_COMPARE_WITH_TIMEOUT(figures(), before, kPatienceMs);
  QVERIFY(settle());
  QCOMPARE(bar().budget().box().value(), 1.0);
}

void SacSolveTest::keys_move_the_slider_and_enter_solves() {
  QVERIFY(open(kSample));
  auto& slider = child<QSlider>(bar());
  slider.setFocus();
  for (int i = 0; i < 4; ++i) QTest::keyClick(&slider, Qt::Key_PageDown);
  QTRY_VERIFY_WITH_TIMEOUT(session().is_settled() && promised(), kPatienceMs);
  QCOMPARE(editing().entry_count(), 0);
  QTest::keyClick(&slider, Qt::Key_Return);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(base().settings.activation_budget, 0.8);
}

void SacSolveTest::one_limit_has_one_answer_data() {
  QTest::addColumn<QByteArray>("file");
  QTest::addColumn<bool>("has_order");
  for (const bool has_order : {true, false}) {
    if (has_order && !test::runs_slow_tests()) continue;
    const char* how = has_order ? "ordered" : "own order";
    if (test::runs_slow_tests())
      QTest::addRow("joint graph, %s", how) << QByteArray(test::kLarge) << has_order;
    QTest::addRow("joint graph on the CPU, %s", how) << QByteArray(kSample) << has_order;
    QTest::addRow("flat training step, %s", how) << QByteArray(test::kStep) << has_order;
  }
}

// The slider's field, Fastest and the command line.
void SacSolveTest::one_limit_has_one_answer() {
  QFETCH(QByteArray, file);
  QFETCH(bool, has_order);
  QVERIFY(open(file));
  orders().setChecked(has_order);
  const std::int64_t peak = figures().figures.peak_bytes, limit = peak / 100 * 95;
  const QString typed = QString::number(limit) + " B";
  choose_unit("Peak");
  QCOMPARE(bar().budget().limit(), std::optional(peak));
  type(bar().budget().box(), typed);
  // The preview is the plan that is used.
  QTRY_VERIFY_WITH_TIMEOUT(promised() && session().is_settled(), kPatienceMs);
  QVERIFY2(figures_row().what_if().contains("fastest plan found"),
           qPrintable(figures_row().what_if()));
  const PlanFigures previewed = *promised();
  const Figures in_order = *promised_in_order();
  QCOMPARE(editing().entry_count(), 0);
  QTest::keyClick(&bar().budget().box(), Qt::Key_Return);
  QVERIFY(wait_for_search());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(figures(), previewed);
  QCOMPARE(ordered_figures(), in_order);
  QVERIFY(in_order.peak_bytes <= limit);
  const PlanFigures by_slider = figures();
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_COMPARE_WITH_TIMEOUT(figures().figures.peak_bytes, peak, kPatienceMs);
  QVERIFY(settle());
  QCOMPARE(bar().budget().limit(), std::optional(peak));

  pane().show_pareto();
  type(limit_box(), typed);
  QTest::keyClick(&limit_box(), Qt::Key_Tab);
  test::press(button("fastest"));
  QVERIFY(wait_for_search());
  QCOMPARE(figures(), by_slider);
  QCOMPARE(ordered_figures(), in_order);

  QStringList arguments{"sac",      source_of(file), "--budget", QString::number(limit),
                        "--device", device()};
  if (!has_order) arguments << "--keep-order";
  const QJsonObject answer = run_jointer(arguments);
  QCOMPARE(ordered_figures().peak_bytes, answer[u"peak_bytes"].toInteger());
  QCOMPARE(static_cast<double>(ordered_figures().step_ns) / 1e6, answer[u"step_ms"].toDouble());
  QCOMPARE(figures().saved_bytes, answer[u"saved_storage_bytes"].toInteger());
}

void SacSolveTest::dragging_a_limit_previews_the_curve() {
  QVERIFY(open(kSample));
  QVERIFY(search_trade_off());
  choose_unit("Peak");
  auto& slider = child<QSlider>(bar());
  const auto at = [&](double share) {
    return QPoint(static_cast<int>(share * slider.width()), slider.height() / 2);
  };
  const std::int64_t lowest =
      std::ranges::min_element(pareto().plot().marks(), {}, &ParetoMark::peak_bytes)->peak_bytes;
  QTest::mousePress(&slider, Qt::LeftButton, {}, at(1.0));
  double share = 1.0;
  for (; share > 0.5; share -= 0.02) {
    QMouseEvent move(QEvent::MouseMove, at(share), slider.mapToGlobal(at(share)), Qt::NoButton,
                     Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&slider, &move);
    if (bar().budget().limit() < figures().figures.peak_bytes) break;
  }
  const std::int64_t limit = *bar().budget().limit();
  QVERIFY(limit >= lowest);
  // Immediately, before any search.
  QVERIFY(!session().pareto().is_running());
  const ParetoPoint* known = session().pareto().fastest_known(session().state(), limit);
  QVERIFY(known != nullptr);
  const PlanFigures at_once = known->figures;
  QTRY_VERIFY_WITH_TIMEOUT(promised_in_order(), kPatienceMs);
  QVERIFY(promised_in_order()->step_ns <= at_once.figures.step_ns);
  QCOMPARE(editing().entry_count(), 0);
  QTest::mouseRelease(&slider, Qt::LeftButton, {}, at(share));
  QVERIFY(wait_for_search());
  QCOMPARE(editing().entry_count(), 1);
  QVERIFY(ordered_figures().peak_bytes <= limit);
  QVERIFY(ordered_figures().step_ns <= at_once.figures.step_ns);
}

void SacSolveTest::a_plan_that_does_not_fit_is_not_used() {
  QVERIFY(open(kSample));
  QSignalSpy messages(&pane(), &SacPane::message);
  choose_unit("Peak");
  type(bar().budget().box(), QStringLiteral("1 B"));
  QTest::keyClick(&bar().budget().box(), Qt::Key_Return);
  QCOMPARE(button("solve").text(), QStringLiteral("Cancel"));
  QVERIFY(wait_for_search());
  QCOMPARE(button("solve").text(), QStringLiteral("Solve"));
  QVERIFY2(messages.last().front().toString().startsWith("No plan found meets the limit"),
           qPrintable(messages.last().front().toString()));
  QCOMPARE(editing().entry_count(), 0);
  // Without a caching allocator, nothing is reserved.
  QCOMPARE(unit().findText(QStringLiteral("Reserved")), -1);
  pane().show_pareto();
  QVERIFY(!child<QComboBox>(pareto(), "memory").isVisible());
}

// One choice for the slider, Fastest and the curve.
void SacSolveTest::reserved_memory_is_limited() {
  JOINTER_SLOW_FUNCTION();
  QVERIFY(open(test::kLarge));
  orders().setChecked(false);  // the reserved memory of the session is that of the plan's own order
  QTRY_VERIFY_WITH_TIMEOUT(session().reserved().bytes().has_value(), kPatienceMs);
  const std::int64_t reserved = *session().reserved().bytes();
  choose_unit("Reserved");
  QCOMPARE(bar().budget().limit(), std::optional(reserved));
  pane().show_pareto();
  auto& memory = child<QComboBox>(pareto(), "memory");
  QVERIFY(memory.isVisible());
  QCOMPARE(memory.currentText(), QStringLiteral("Reserved limit"));
  const double gib = std::floor(0.7 * static_cast<double>(reserved) / kGib);
  type(limit_box(), QString::number(gib) + " GiB");
  QTest::keyClick(&limit_box(), Qt::Key_Tab);
  QSignalSpy messages(&pane(), &SacPane::message);
  test::press(button("fastest"));
  QVERIFY(wait_for_search());
  QTRY_VERIFY_WITH_TIMEOUT(
      session().reserved().bytes() && *session().reserved().bytes() != reserved, kPatienceMs);
  QVERIFY(static_cast<double>(*session().reserved().bytes()) <= gib * kGib);
  // The message and the numbers have both.
  const QString said = messages.last().front().toString();
  QVERIFY2(said.contains(bytes_text(*session().reserved().bytes())) &&
               said.contains(bytes_text(figures().figures.peak_bytes)),
           qPrintable(said));
  const QJsonObject answer =
      run_jointer({"sac", source_of(test::kLarge), "--budget", QString::number(gib) + "GiB",
                   "--limit-of", "reserved", "--keep-order"});
  QCOMPARE(*session().reserved().bytes(), answer[u"reserved_bytes"].toInteger());
  QCOMPARE(figures().figures.peak_bytes, answer[u"peak_bytes"].toInteger());
  QCOMPARE(static_cast<double>(figures().figures.step_ns) / 1e6, answer[u"step_ms"].toDouble());
  // The other choice, made on the page, is that of the slider as well.
  memory.setFocus();
  QTest::keyClick(&memory, Qt::Key_Up);
  QCOMPARE(unit().currentText(), QStringLiteral("Peak"));
  QCOMPARE(bar().budget().limit(), std::optional(figures().figures.peak_bytes));
}

void SacSolveTest::the_solver_is_chosen() {
  QVERIFY(open(kSample));
  auto& solver = child<QComboBox>(bar(), "solver");
  auto& partitioner = child<QComboBox>(bar(), "partitioner");
  solver.setFocus();
  QTest::keyClick(&solver, Qt::Key_Down);
  QCOMPARE(bar().settings().solver, KnapsackSolver::greedy);
  type(bar().budget().box(), QStringLiteral("0.390625"));
  QTRY_VERIFY_WITH_TIMEOUT(
      session().is_settled() && promised() &&
          session().shown_preview()->settings->solver == KnapsackSolver::greedy,
      kPatienceMs);
  const PlanFigures previewed = *promised();
  test::press(button("solve"));
  QVERIFY(settle());
  QCOMPARE(base().settings,
           (SolveSettings{.activation_budget = 0.390625, .solver = KnapsackSolver::greedy}));
  QCOMPARE(figures(), previewed);
  // torch's default partitioner has no budget.
  partitioner.setFocus();
  QTest::keyClick(&partitioner, Qt::Key_Down);
  QVERIFY(!solver.isEnabled());
  QVERIFY(!bar().budget().isEnabled());
}

void SacSolveTest::the_timeline_shows_the_plan() {
  QVERIFY(open(kSample));
  QVERIFY(timeline().content().has_plan());
  QVERIFY(peak_place().has_value());
  for (const AxisKind kind : {AxisKind::program_order, AxisKind::estimated_time}) {
    timeline().content().set_kind(kind);
    QVERIFY(card_in_the_middle().contains("as partitioned"));
  }
  const int row = largest(PlanAction::save);
  table().view().scrollTo(model().index_of(row));
  move_pointer(switch_of(row, PlanAction::recompute).center());
  QTRY_VERIFY_WITH_TIMEOUT(promised().has_value(), kPatienceMs);
  QVERIFY(card_in_the_middle().contains("preview"));
  move_pointer({2, 2});
  QTRY_VERIFY(!card_in_the_middle().contains("preview"));
  // It can be hidden.
  auto* plan = window_->findChild<QToolButton*>("plan");
  QVERIFY(plan != nullptr && plan->isVisible());
  QTest::mouseClick(plan, Qt::LeftButton);
  QVERIFY(!card_in_the_middle().contains("as partitioned"));
  QVERIFY(!peak_place().has_value());
}

// Until the plan of the new order is known, none is shown.
void SacSolveTest::the_plan_keeps_its_row_after_a_move() {
  QVERIFY(open(kSample));
  const auto has_row = [this] {
    const TimelineLayout& layout = timeline().layout();
    const QRect label = timeline().scene().plan_label();
    return layout.labels.size() == 2 && label.top() > layout.ruler.bottom() &&
           label.bottom() < layout.memory.top();
  };
  QVERIFY(peak_place().has_value());
  QVERIFY(has_row());
  document().selection().select(test::exposed_wait(document()));
  editing().planner().to_end(1);
  QTRY_COMPARE_WITH_TIMEOUT(editing().entry_count(), 1, kPatienceMs);
  QVERIFY(settle());
  QTRY_VERIFY_WITH_TIMEOUT(peak_place().has_value(), kPatienceMs);
  QVERIFY(has_row());
  // The same if the layout is made anew while the plan is hidden by a held block.
  editing().planner().take(test::exposed_wait(document()));
  QTRY_VERIFY_WITH_TIMEOUT(editing().planner().held() != nullptr, kPatienceMs);
  editing().planner().to_end(1);
  QTRY_VERIFY_WITH_TIMEOUT(!peak_place().has_value(), kPatienceMs);
  window_->resize(window_->width() - 20, window_->height());
  QTRY_COMPARE(timeline().layout().labels.size(), std::size_t{1});
  editing().planner().give_up();
  QTRY_VERIFY(peak_place().has_value());
  QTRY_VERIFY(has_row());
}

void SacSolveTest::the_card_of_a_range_is_above_the_plan() {
  QVERIFY(open(kSample));
  window_->resize(1600, 700);  // in a low curve, the card covers most of the height
  QTRY_VERIFY(peak_place().has_value());
  const QRect memory = timeline().layout().memory;
  const QRgb accent = Theme::of(timeline().palette()).accent.rgb();
  const auto count = [&](const QRect& area) {
    const QImage image = timeline().viewport()->grab().toImage();
    int found = 0;
    for (int y = area.top(); y <= area.bottom(); ++y)
      for (int x = area.left(); x <= area.right(); ++x) found += image.pixel(x, y) == accent;
    return found;
  };
  // A place where the plan's curve is drawn, and where the card will be.
  constexpr int kWidth = 60, kLeft = 30, kTop = 20, kHeight = 60;
  QRect place;
  for (int x = memory.left() + 200; x < memory.right() - 500 && place.isEmpty(); x += kWidth / 2)
    if (const QRect at(x, memory.top() + kTop, kWidth, kHeight); count(at) > 0) place = at;
  QVERIFY2(!place.isEmpty(), "the plan's curve is not drawn where cards are");
  const AxisView& axis = timeline().range().axis();
  document().selection().set_range(timeline().content().range_between(
      axis.to_position(place.left() - 150), axis.to_position(place.left() - kLeft)));
  QCOMPARE(count(place), 0);
  document().selection().set_range(std::nullopt);
  QVERIFY(count(place) > 0);
}

void SacSolveTest::click_on_the_timelines_peak_shows_its_tensors() {
  QVERIFY(open(kSample));
  window_->dock("modules")->raise();
  const auto place = peak_place();
  QVERIFY(place.has_value());
  QTest::mouseClick(timeline().viewport(), Qt::LeftButton, {}, *place);
  QVERIFY(!window_->dock("sac")->visibleRegion().isEmpty());
  QVERIFY(model().shows_only_some());
  std::vector<NodeId> shown;
  for (const int row : model().shown(-1)) shown.push_back(model().nodes(row).front());
  QCOMPARE(shown, session().saved_at_peak());
}

void SacSolveTest::offloading_is_shown_everywhere() {
  QVERIFY(open(kSample));
  QCOMPARE(figures().offloaded_bytes, 0);
  click_switch(largest(PlanAction::save), PlanAction::offload);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QVERIFY(figures().offloaded_bytes > 0);
  QVERIFY(labels_of(figures_row()).contains(bytes_text(figures().offloaded_bytes)));
  // The curve stays aligned with the joint graph, despite copies.
  QVERIFY(peak_place().has_value());
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_COMPARE_WITH_TIMEOUT(figures().offloaded_bytes, 0, kPatienceMs);
}

void SacSolveTest::several_rows_are_ticked_by_one_switch_and_undone() {
  QVERIFY(open(kSample));
  const PlanFigures before = figures();
  const std::vector<int> rows = rows_of(PlanAction::save);
  QVERIFY(rows.size() >= 2);
  std::vector<NodeId> nodes;
  for (const int row : {rows[0], rows[1]}) {
    nodes.push_back(model().nodes(row).front());
    table().view().scrollTo(model().index_of(row));
    QTest::mouseClick(table().view().viewport(), Qt::LeftButton,
                      row == rows[0] ? Qt::NoModifier : Qt::ControlModifier,
                      table().view().visualRect(model().index_of(row)).center());
  }
  QCOMPARE(table().view().selected_rows().size(), std::size_t{2});
  click_switch(rows[0], PlanAction::recompute);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  for (const NodeId node : nodes)
    QCOMPARE(document().graph().node(node).policy, MemoryPolicy::must_recompute);
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_COMPARE_WITH_TIMEOUT(figures(), before, kPatienceMs);
  for (const NodeId node : nodes)
    QCOMPARE(document().graph().node(node).policy, MemoryPolicy::none);
}

void SacSolveTest::named_states_have_reserved_memory() {
  QVERIFY(open(test::kLarge));
  QTRY_VERIFY_WITH_TIMEOUT(session().reserved().bytes().has_value(), kPatienceMs);
  const std::int64_t reserved = *session().reserved().bytes();
  editing().keep_state(QStringLiteral("as opened"));
  QVERIFY(recompute_all());
  pane().show_pareto();
  const ParetoPlot& plot = pareto().plot();
  const auto mark = [&] {
    const auto at = std::ranges::find(plot.marks(), ParetoKind::named, &ParetoMark::kind);
    return at == plot.marks().end() ? std::optional<ParetoMark>() : *at;
  };
  test::press(child<QPushButton>(pareto(), "start"));
  QTRY_VERIFY_WITH_TIMEOUT(mark().has_value(), kPatienceMs);
  choose_unit("Reserved");
  QTRY_VERIFY_WITH_TIMEOUT(mark().has_value(), kPatienceMs);
  QCOMPARE(mark()->reserved_bytes, std::optional(reserved));
  pareto().search().cancel();
}

// The page says why a named state has no mark, and asks again once settings change.
void SacSolveTest::named_states_are_asked_for_again() {
  QVERIFY(open(kSample));
  QVERIFY(search_trade_off());
  const ParetoPlot& plot = pareto().plot();
  const auto has_mark = [&] {
    return std::ranges::count(plot.marks(), ParetoKind::named, &ParetoMark::kind) > 0;
  };
  const auto& status = child<QLabel>(pareto(), "status");
  editing().keep_state(QStringLiteral("as opened"));
  session().cancel();
  QVERIFY(settle());
  QVERIFY2(status.text().contains("“as opened” cannot be estimated") &&
               status.text().contains("cancelled"),
           qPrintable(status.text()));
  QVERIFY(!has_mark());
  orders().setChecked(!orders().isChecked());
  QTRY_VERIFY_WITH_TIMEOUT(has_mark(), kPatienceMs);
  QVERIFY2(!status.text().contains("as opened"), qPrintable(status.text()));
}

void SacSolveTest::reserved_is_that_of_the_pair() {
  QVERIFY(open(test::kLarge));
  QTRY_VERIFY_WITH_TIMEOUT(session().reserved().bytes().has_value(), kPatienceMs);
  const std::int64_t promised = *session().reserved().bytes();
  QVERIFY(promised >= figures().figures.peak_bytes);
  QVERIFY(labels_of(figures_row()).contains(bytes_text(promised)));
  QVERIFY(labels_of(*window_->findChild<Scoreboard*>())
              .join(u'\n')
              .contains(QStringLiteral("reserved %1").arg(bytes_text(promised))));
  QSignalSpy opened(window_.get(), &desktop::MainWindow::opened);
  emit bar().pair_wanted();
  QVERIFY(opened.wait(kPatienceMs));
  QCOMPARE(document().analysis().reserved.peak_bytes, promised);
}

// The buttons do not move when their texts change.
void SacSolveTest::one_button_cancels_a_search() {
  QVERIFY(open(kSample));
  pane().show_pareto();
  auto& start = child<QPushButton>(pareto(), "start");
  QTRY_VERIFY(start.isVisible());
  QTest::qWait(10);  // until the layout is done
  const QRect place = start.geometry(), next = button("fastest").geometry();
  const auto has_moved = [&] {
    QTest::qWait(10);
    return start.geometry() != place || button("fastest").geometry() != next;
  };
  test::press(start);
  QCOMPARE(start.text(), QStringLiteral("Cancel"));
  QCOMPARE(button("solve").text(), QStringLiteral("Solve"));
  QVERIFY(!has_moved());
  pareto().search().cancel();
  QVERIFY(start.text().startsWith("Compute"));
  QVERIFY(!has_moved());
  // The same for a plan within a limit.
  test::press(button("fastest"));
  QVERIFY(pareto().search().is_finding());
  QCOMPARE(button("solve").text(), QStringLiteral("Cancel"));
  QVERIFY(start.text().startsWith("Compute"));
  QVERIFY(!start.isEnabled());
  test::press(button("solve"));
  QVERIFY(!pareto().search().is_running());
  QCOMPARE(button("solve").text(), QStringLiteral("Solve"));
  QVERIFY(start.isEnabled());
  QCOMPARE(editing().entry_count(), 0);
}

void SacSolveTest::uses_the_fastest_plan_that_fits() {
  QVERIFY(open(kSample));
  pane().show_pareto();
  ParetoPage& page = pareto();
  const double limit = static_cast<double>(figures().figures.peak_bytes) * 0.97 / kGib;
  // The sample is small, and the field shows it.
  QVERIFY2(limit_box().text().endsWith("MiB"), qPrintable(limit_box().text()));
  type(limit_box(), QString::number(limit * 1024, 'f', 6) + " MiB");
  QTest::keyClick(&limit_box(), Qt::Key_Tab);
  test::press(button("fastest"));
  QTRY_VERIFY_WITH_TIMEOUT(!page.search().is_running(), kPatienceMs);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QVERIFY(static_cast<double>(figures().figures.peak_bytes) <= limit * kGib + 1);
  for (const SacTensor& tensor : session().state()->tensors)
    QVERIFY(!tensor.is_needed || tensor.decider != Decider::user);
  // If nothing fits, a message says so and the plan stays.
  QSignalSpy messages(&pane(), &SacPane::message);
  type(limit_box(), "1 B");
  QTest::keyClick(&limit_box(), Qt::Key_Tab);
  test::press(button("fastest"));
  QTRY_VERIFY_WITH_TIMEOUT(!page.search().is_running() && !messages.isEmpty(), kPatienceMs);
  QVERIFY(settle());
  QVERIFY2(messages.last().front().toString().startsWith("No plan found meets the limit"),
           qPrintable(messages.last().front().toString()));
  QCOMPARE(editing().entry_count(), 1);
  // The pane says so too, until the limit changes.
  const auto pane_says_so = [this] {
    return child<QLabel>(figures_row(), "what_if").toolTip().startsWith("No plan found");
  };
  QVERIFY(pane_says_so());
  type(limit_box(), "2 MiB");
  QTest::keyClick(&limit_box(), Qt::Key_Tab);
  QVERIFY(!pane_says_so());
}

// The curve and the search for a limit give the same answer.
void SacSolveTest::the_fastest_plan_is_no_slower_than_the_curve() {
  JOINTER_SLOW_FUNCTION();
  QVERIFY(open(kSample));
  QVERIFY(search_trade_off());
  ParetoPage& page = pareto();
  std::vector<ParetoMark> curve;
  for (const ParetoMark& mark : page.plot().marks())
    if (mark.kind == ParetoKind::curve) curve.push_back(mark);
  QVERIFY(curve.size() > 3);
  const ParetoMark wanted = curve[curve.size() / 2];
  type(limit_box(), QString::number(wanted.peak_bytes) + " B");
  QTest::keyClick(&limit_box(), Qt::Key_Tab);
  test::press(button("fastest"));
  QVERIFY(wait_for_search());
  QVERIFY(ordered_figures().peak_bytes <= wanted.peak_bytes);
  QVERIFY(ordered_figures().step_ns <= wanted.step_ns);
}

void SacSolveTest::uses_the_smallest_plan_within_the_time_limit() {
  JOINTER_SLOW_FUNCTION();
  QVERIFY(open(kSample));
  pane().show_pareto();
  ParetoPage& page = pareto();
  const PlanFigures before = figures();
  const auto step = static_cast<double>(before.figures.step_ns);
  auto& percent = child<QDoubleSpinBox>(page, "percent");
  type(percent, QStringLiteral("30"));
  QTest::keyClick(&percent, Qt::Key_Tab);
  test::press(button("smallest"));
  QVERIFY(wait_for_search());
  QVERIFY(static_cast<double>(ordered_figures().step_ns) <= step * 1.3);
  QVERIFY(ordered_figures().peak_bytes <= before.figures.peak_bytes);
  // Relative to the step shown, which the order has made shorter.
  const Figures smaller = ordered_figures();
  type(percent, QStringLiteral("0"));
  QTest::keyClick(&percent, Qt::Key_Tab);
  test::press(button("smallest"));
  QVERIFY(wait_for_search());
  QVERIFY(ordered_figures().step_ns <= smaller.step_ns);
  QVERIFY(ordered_figures().peak_bytes <= smaller.peak_bytes);
}

void SacSolveTest::limits_match_the_command_line_data() {
  QTest::addColumn<int>("partitioner");
  QTest::addColumn<bool>("is_peak");
  for (const Partitioner partitioner : {Partitioner::min_cut, Partitioner::default_partition})
    for (const bool is_peak : {false, true}) {
      if (!(is_peak || test::runs_slow_tests())) continue;
      const std::string name(to_string(partitioner));
      QTest::addRow("%s %s", name.c_str(), is_peak ? "peak" : "step")
          << static_cast<int>(partitioner) << is_peak;
    }
}

void SacSolveTest::limits_match_the_command_line() {
  QFETCH(int, partitioner);
  QFETCH(bool, is_peak);
  QVERIFY(open(test::kLarge));
  const SolveSettings settings{.partitioner = static_cast<Partitioner>(partitioner)};
  if (settings != SolveSettings()) session().solve(settings);
  QVERIFY(settle());
  pane().show_pareto();
  const double gib = std::floor(0.7 * static_cast<double>(figures().figures.peak_bytes) / kGib);
  if (is_peak) type(limit_box(), QString::number(gib) + " GiB");
  test::press(button(is_peak ? "fastest" : "smallest"));
  QVERIFY(wait_for_search());

  QStringList arguments{QStringLiteral("sac"), source_of(test::kLarge),
                        QStringLiteral("--partitioner"),
                        QString::fromStdString(std::string(to_string(settings.partitioner)))};
  arguments << (is_peak ? QStringList{QStringLiteral("--budget"),
                                      QStringLiteral("%1GiB").arg(QString::number(gib))}
                        : QStringList{QStringLiteral("--slower"), QStringLiteral("5")});
  const QJsonObject answer = run_jointer(arguments);
  QCOMPARE(ordered_figures().peak_bytes, answer[u"peak_bytes"].toInteger());
  QCOMPARE(static_cast<double>(ordered_figures().step_ns) / 1e6, answer[u"step_ms"].toDouble());
  QCOMPARE(figures().saved_bytes, answer[u"saved_storage_bytes"].toInteger());
}

void SacSolveTest::clicked_point_has_the_drawn_figures_data() {
  QTest::addColumn<QString>("name");
  QTest::newRow("budget 1") << QStringLiteral("budget 1");
  if (!test::runs_slow_tests()) return;
  for (const char* name : {"apply_sac", "full", "eager"})
    QTest::newRow(name) << QString::fromLatin1(name);
}

// Even if the current plan and the controls use another partitioner.
void SacSolveTest::clicked_point_has_the_drawn_figures() {
  QFETCH(QString, name);
  QVERIFY(open(kSample));
  session().solve({.partitioner = Partitioner::default_partition});
  QVERIFY(settle());
  QVERIFY(search_trade_off());
  ParetoPage& page = pareto();
  const auto& marks = page.plot().marks();
  const auto at = std::ranges::find(marks, name, &ParetoMark::name);
  QVERIFY(at != marks.end());
  const ParetoMark wanted = *at;
  bar().budget().box().setValue(0.3);
  emit page.plot().chosen(static_cast<std::size_t>(at - marks.begin()));
  QVERIFY(settle());
  QCOMPARE(figures().figures.peak_bytes, wanted.peak_bytes);
  QCOMPARE(figures().figures.step_ns, wanted.step_ns);
}

// Each in the format of another program.
void SacSolveTest::imports_formats_of_other_programs_data() {
  QTest::addColumn<QString>("name");
  QTest::addColumn<int>("format");  // of export_plan, or -1 for a log of torch's partitioner
  QTest::addColumn<PolicySource>("source");
  QTest::newRow("operators") << "save_ops.py" << static_cast<int>(PolicyFormat::torchtitan)
                             << PolicySource::operator_set;
  QTest::newRow("selectors") << "selectors.txt" << static_cast<int>(PolicyFormat::selectors)
                             << PolicySource::selectors;
  QTest::newRow("recipe") << "tags.recipe.json" << static_cast<int>(PolicyFormat::recipe)
                          << PolicySource::recipe;
  QTest::newRow("log") << "partitioner.log" << -1 << PolicySource::partitioner_log;
}

void SacSolveTest::imports_formats_of_other_programs() {
  QFETCH(QString, name);
  QFETCH(int, format);
  QFETCH(PolicySource, source);
  QVERIFY(open(kSample));
  const NodeId node = model().nodes(largest(PlanAction::save)).front();
  std::string text;
  if (format < 0) {
    text = "INFO:torch._functorch.partitioners:Theoretical Per Activation Storage Sizes: [(" +
           std::to_string(document().graph().output_bytes(document().graph().node(node))) + ", '" +
           std::string(document().graph().name(node)) + "')]\n";
  } else {
    // The pane's own export, in a format that others write, too.
    QVERIFY(copy_plan(static_cast<PolicyFormat>(format)));
    text = QApplication::clipboard()->text().toStdString();
  }
  const QString path = folder_->filePath(name);
  QVERIFY(write_bytes(path.toStdString(), text).has_value());

  test::answer_file_dialog(path);
  QSignalSpy messages(&pane(), &SacPane::message);
  for (QAction* action : bar().exchange().actions())
    if (action->text().startsWith("Import from File")) action->trigger();
  QTRY_VERIFY_WITH_TIMEOUT(messages.count() > 0, kPatienceMs);
  const QString read = messages.front().front().toString();
  QVERIFY2(read.startsWith("Imported " + QString::fromStdString(std::string(to_string(source)))),
           qPrintable(read));
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(document().graph().node(node).policy, MemoryPolicy::must_save);
  QCOMPARE(action_of(node), PlanAction::save);
  QCOMPARE(session().state()->tensor_of(node)->decider, Decider::list);
}

// The status bar shows a message for a few seconds; an error stays until it is closed.
void SacSolveTest::failed_imports_and_exports_are_shown_in_a_dialog() {
  QVERIFY(open(kSample));
  auto& exchange = child<PolicyExchange>(pane());
  QSignalSpy messages(&pane(), &SacPane::message);
  const auto shows = [this](const QString& title, const QString& text) {
    QMessageBox* box = nullptr;
    const auto is_shown = [&] {
      box = window_->findChild<QMessageBox*>();
      return box != nullptr && box->isVisible();
    };
    if (!QTest::qWaitFor(is_shown, kPatienceMs)) return false;
    const bool is_it = box->windowTitle() == title && box->text().contains(text);
    if (!is_it) qInfo() << box->windowTitle() << box->text();
    delete box;
    return is_it;
  };
  exchange.read(folder_->filePath("missing.txt"));
  QVERIFY(shows("Import", "missing.txt"));
  exchange.take("no policy of any kind");
  QVERIFY(shows("Import", {}));
  exchange.write(PolicyFormat::recipe, folder_->filePath("missing/plan.json"));
  QVERIFY(shows("Export", "missing"));
  QCOMPARE(messages.count(), 0);
  QCOMPARE(editing().entry_count(), 0);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::SacSolveTest, "sac_solve")
#include "sac_solve_test.moc"
