// Tests plans that are found together with an order: their numbers, the history, the pair and the
// flat training step that they lead to.

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/support/child.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "views/exposed/exposed_pane.h"
#include "views/history/history_pane.h"
#include "views/session/text/number_text.h"
#include "views/window/plan_figure.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::kPatienceMs;
using test::kSearchMs;

}  // namespace

class SacOrderTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }

  void the_plan_found_has_an_order();
  void the_current_mark_is_where_the_search_found_it();
  void the_order_follows_the_history();
  void a_move_keeps_the_order_and_history_says_why_one_ends();
  void the_pair_is_in_this_order();
  void applying_tags_runs_the_passes();
  void the_preview_of_a_limit_is_in_the_order_found();
  void the_curve_is_below_that_of_plans_alone();
  void a_graph_without_communication_has_no_orders();

 private:
  // Swaps the first two adjacent calls that may be swapped.
  bool swap_two_calls() {
    const int count = editing().entry_count();
    const std::span<const NodeId> nodes = document().graph().order();
    const std::vector<NodeId> order(nodes.begin(), nodes.end());
    for (std::size_t i = 0; i + 1 < order.size() && editing().entry_count() == count; ++i) {
      const Graph& graph = document().graph();
      const auto is_call = [&](NodeId id) { return graph.node(id).kind == NodeKind::call; };
      if (!is_call(order[i]) || !is_call(order[i + 1])) continue;
      editing().apply({.title = "Swap",
                       .changes = {MoveNodes{.nodes = {edit_name(graph, order[i + 1])},
                                             .before = edit_name(graph, order[i])}}});
      if (!settle()) return false;
    }
    return editing().entry_count() == count + 1;
  }
  // Finds the fastest plan within this share of the current peak.
  bool find_within(double share) {
    pane().show_pareto();
    const auto limit =
        static_cast<std::int64_t>(share * static_cast<double>(figures().figures.peak_bytes));
    auto& box = child<QDoubleSpinBox>(pareto(), "limit");
    test::type(box, QString::number(limit) + " B");
    QTest::keyClick(&box, Qt::Key_Tab);
    test::press(button("fastest"));
    return QTest::qWaitFor([this] { return !session().pareto().is_running(); }, kSearchMs) &&
           settle_order();
  }
  // The numbers shown for the order; empty if there is none.
  [[nodiscard]] QString order_shown() const {
    const auto& label = child<QLabel>(figures_row(), "reordered");
    return label.parentWidget()->isHidden() ? QString() : label.text();
  }
  // The lowest mark of a kind within a peak.
  [[nodiscard]] std::int64_t shortest_step(std::int64_t peak_bytes) {
    std::int64_t step = std::numeric_limits<std::int64_t>::max();
    for (const ParetoMark& mark : pareto().plot().marks())
      if (mark.kind == ParetoKind::curve && mark.peak_bytes <= peak_bytes)
        step = std::min(step, mark.step_ns);
    return step;
  }
};

void SacOrderTest::the_plan_found_has_an_order() {
  QVERIFY(open(test::kLarge));
  const Figures opened = figures().figures;
  QVERIFY(order_shown().isEmpty());
  QSignalSpy messages(&pane(), &SacPane::message);
  QVERIFY(find_within(0.8));
  const SacState& state = *session().state();
  QVERIFY(!state.order.empty());
  QVERIFY(messages.last().front().toString().contains(QString::fromStdString(state.order)));
  // The order hides communication that the plan alone exposes.
  QVERIFY(ordered_figures().step_ns < figures().figures.step_ns);
  QVERIFY(ordered_figures().step_ns < opened.step_ns);
  QVERIFY(order_shown().contains("ms"));
  // The header and the pair in the timeline have the same numbers.
  const QString text = QStringLiteral("%1 · %2").arg(bytes_text(ordered_figures().peak_bytes),
                                                     time_text(ordered_figures().step_ns));
  QCOMPARE(child<PlanFigure>(*window_).value().text(), text);
  click_button("show_partitioned");
  const auto shown_step = [this] {
    return timeline().content().shown().analysis.simulation.step_ns();
  };
  QTRY_COMPARE_WITH_TIMEOUT(shown_step(), ordered_figures().step_ns, kPatienceMs);
  // Also in the line that replaces the numbers in a low pane.
  QVERIFY(child<QLabel>(figures_row(), "what_if").text().contains("order"));
}

void SacOrderTest::the_current_mark_is_where_the_search_found_it() {
  JOINTER_SLOW_FUNCTION();
  QVERIFY(open(test::kSample));
  QVERIFY(find_within(0.95));
  const auto& marks = pareto().plot().marks();
  QVERIFY(marks.empty());  // no curve yet
  QVERIFY(search_trade_off());
  const auto now = std::ranges::find(marks, ParetoKind::now, &ParetoMark::kind);
  QVERIFY(now != marks.end());
  QCOMPARE(now->step_ns, ordered_figures().step_ns);
  QCOMPARE(now->peak_bytes, ordered_figures().peak_bytes);
  // It stays there, as the start of the search, if the plan changes.
  const Figures found = ordered_figures();
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  const auto start = [&] { return std::ranges::find(marks, ParetoKind::start, &ParetoMark::kind); };
  QTRY_VERIFY_WITH_TIMEOUT(start() != marks.end(), kPatienceMs);
  QCOMPARE(start()->step_ns, found.step_ns);
  QCOMPARE(start()->peak_bytes, found.peak_bytes);
}

void SacOrderTest::the_order_follows_the_history() {
  QVERIFY(open(test::kSample));
  QVERIFY(find_within(0.95));
  const std::string order = session().state()->order;
  const Figures found = ordered_figures();
  QVERIFY(!order.empty());
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier);
  QTRY_VERIFY_WITH_TIMEOUT(session().state()->order.empty(), kPatienceMs);
  QVERIFY(order_shown().isEmpty());
  QTest::keyClick(window_.get(), Qt::Key_Z, Qt::ControlModifier | Qt::ShiftModifier);
  QTRY_COMPARE_WITH_TIMEOUT(session().state()->order, order, kPatienceMs);
  QVERIFY(settle_order());
  QCOMPARE(ordered_figures(), found);
  // A tick keeps the order, and the numbers are those of the new plan in it.
  pages().setCurrentWidget(&table());
  const int row = largest(PlanAction::save);
  QVERIFY(row >= 0);
  session().set_action(model().nodes(row), PlanAction::recompute);
  QVERIFY(settle());
  QCOMPARE(session().state()->order, order);
  QVERIFY(settle_order());
  QVERIFY(ordered_figures() != found);
  // Solving again makes a new plan, which is in its own order.
  bar().solve();
  QTRY_VERIFY_WITH_TIMEOUT(session().state()->order.empty(), kPatienceMs);
  // The named state has the numbers that it had.
  editing().go_to(1);
  QVERIFY(settle());
  editing().keep_state("found");
  QTRY_COMPARE_WITH_TIMEOUT(session().state()->order, order, kPatienceMs);
  editing().go_to(0);
  QVERIFY(settle());
  QVERIFY(search_trade_off());
  const auto named = [&] {
    return std::ranges::find(pareto().plot().marks(), ParetoKind::named, &ParetoMark::kind);
  };
  QTRY_VERIFY_WITH_TIMEOUT(named() != pareto().plot().marks().end(), kPatienceMs);
  QCOMPARE(named()->step_ns, found.step_ns);
  QCOMPARE(named()->peak_bytes, found.peak_bytes);
}

void SacOrderTest::a_move_keeps_the_order_and_history_says_why_one_ends() {
  QVERIFY(open(test::kSample));
  QVERIFY(find_within(0.95));
  const std::string order = session().state()->order;
  QVERIFY(!order.empty());
  const int count = editing().entry_count();
  QVERIFY(swap_two_calls());
  QCOMPARE(editing().entry_count(), count + 1);
  QCOMPARE(session().state()->order, order);
  QVERIFY(settle_order());
  const Figures moved = ordered_figures();
  auto* pane = show_pane<HistoryPane>("history");
  QVERIFY(pane != nullptr);
  const auto& model = *static_cast<HistoryModel*>(child<TableView>(*pane, "steps").model());
  QTRY_COMPARE_WITH_TIMEOUT(model.number(count + 1, HistoryModel::step_column), moved.step_ns,
                            kPatienceMs);
  QCOMPARE(model.number(count + 1, HistoryModel::peak_column), moved.peak_bytes);
  QVERIFY(
      model.note(count + 1, HistoryModel::step_column).contains("The order found for the plan"));
  QVERIFY(!model.at(count + 1).drops_order);
  // The gains of moves are those of the joint graph.
  auto* exposed = show_pane<ExposedPane>("exposed");
  QVERIFY(exposed != nullptr);
  QTRY_VERIFY(labels_of(*exposed).filter("Gains are estimated for the joint graph").size() == 1);
  session().solve({});
  QVERIFY(settle());
  QVERIFY(session().state()->order.empty());
  pane = show_pane<HistoryPane>("history");
  QTRY_VERIFY(model.row_count() == count + 3 && model.at(count + 2).drops_order);
  QVERIFY(model.text(count + 2, HistoryModel::title_column).startsWith("(drops the order) "));
  QVERIFY(model.note(count + 2, HistoryModel::title_column).contains("solved again"));
}

void SacOrderTest::the_pair_is_in_this_order() {
  QVERIFY(open(test::kLarge));
  QVERIFY(find_within(0.8));
  const Figures found = ordered_figures();
  QVERIFY(found != figures().figures);
  QSignalSpy opened(window_.get(), &desktop::MainWindow::opened);
  command("SAC: Open as Pair")->trigger();
  QVERIFY(opened.wait(kPatienceMs));
  QVERIFY(document().graph().is_pair());
  QCOMPARE(document().analysis().memory.peak_bytes(), found.peak_bytes);
  QCOMPARE(document().analysis().simulation.step_ns(), found.step_ns);
}

void SacOrderTest::applying_tags_runs_the_passes() {
  QVERIFY(open(test::kStep));
  QVERIFY(find_within(0.9));
  const Figures found = ordered_figures();
  const std::string order = session().state()->order;
  QVERIFY(!order.empty());
  QVERIFY(found != figures().figures);
  const int steps = editing().entry_count();
  test::press(button("apply_tags"));
  QTRY_VERIFY_WITH_TIMEOUT(session().state()->order.empty() && session().is_settled(), kPatienceMs);
  QVERIFY(editing().entry_count() >= steps + 2);
  QCOMPARE(document().analysis().memory.peak_bytes(), found.peak_bytes);
  QCOMPARE(document().analysis().simulation.step_ns(), found.step_ns);
  // Undo leads back to the plan, which still has its order.
  editing().go_to(steps);
  QTRY_COMPARE_WITH_TIMEOUT(session().state()->order, order, kPatienceMs);
}

void SacOrderTest::the_preview_of_a_limit_is_in_the_order_found() {
  QVERIFY(open(test::kStep));
  QStringList names;
  QObject context;
  connect(&session(), &SacSession::previewed, &context, [&] {
    if (session().shown_preview()) names << session().shown_preview()->name();
  });
  test::choose(child<QComboBox>(bar().budget(), "unit"), "Peak");
  const std::int64_t limit = figures().figures.peak_bytes / 10 * 9;
  test::type(bar().budget().box(), QString::number(limit) + " B");
  const auto& preview = session().shown_preview();
  QTRY_VERIFY_WITH_TIMEOUT(preview && preview->ordered, kSearchMs);
  // First in the plan's own order, which is known earlier.
  QVERIFY2(names.contains("preview, not reordered"), qPrintable(names.join(u';')));
  QCOMPARE(names.last(), QStringLiteral("preview, reordered"));
  // The curves and all numbers are those of the point that the search found.
  const Figures found = preview->plan_request->fit->point.figures.figures;
  QCOMPARE(preview->ordered->figures.figures, found);
  QCOMPARE(*std::ranges::max_element(preview->ordered->profile), found.peak_bytes);
  QVERIFY(preview->outcome->figures.figures != found);
  QCOMPARE(child<PlanCurve>(pane()).what_if_name(), QStringLiteral("preview, reordered"));
  QVERIFY(timeline().content().what_if() == preview->ordered);
  QCOMPARE(timeline().content().what_if_name(), QStringLiteral("preview, reordered"));
  QVERIFY2(figures_row().what_if().contains("ordered by") &&
               !figures_row().what_if().contains("own order"),
           qPrintable(figures_row().what_if()));
  const auto* header = window_->findChild<PlanFigure*>();
  QVERIFY(header != nullptr);
  const QString shown = labels_of(*header).join(u'\n');
  QVERIFY2(shown.contains("preview, reordered") && shown.contains(time_text(found.step_ns)),
           qPrintable(shown));
  // Enter uses this plan.
  QTest::keyClick(&bar().budget().box(), Qt::Key_Return);
  QVERIFY(QTest::qWaitFor([this] { return editing().entry_count() == 1; }, kSearchMs));
  QVERIFY(settle());
  QVERIFY(settle_order());
  QCOMPARE(ordered_figures(), found);
  QVERIFY(child<PlanCurve>(pane()).what_if_name().isEmpty());
}

void SacOrderTest::the_curve_is_below_that_of_plans_alone() {
  JOINTER_SLOW_FUNCTION();
  QVERIFY(open(test::kSample));
  const std::int64_t peak = figures().figures.peak_bytes;
  QVERIFY(search_trade_off());
  const std::int64_t ordered = shortest_step(peak);
  for (const ParetoMark& mark : pareto().plot().marks())
    if (mark.bound_ns > 0) QVERIFY(mark.is_bound_of_any_order && mark.bound_ns <= mark.step_ns);
  orders().setChecked(false);
  QVERIFY(search_trade_off());
  QVERIFY(ordered < shortest_step(peak));
  for (const ParetoMark& mark : pareto().plot().marks()) QVERIFY(mark.order.isEmpty());
}

void SacOrderTest::a_graph_without_communication_has_no_orders() {
  const QString path = folder_->filePath("single.json");
  const Graph graph = test::parse(test::layered_joint(6));
  QVERIFY(write_bytes(path.toStdString(), write_native(graph)));
  QVERIFY(open_path(path.toStdString()));
  pane().show_pareto();
  QVERIFY(!orders().isVisible());
  QVERIFY(find_within(0.9));
  QVERIFY(session().state()->order.empty());
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::SacOrderTest, "sac_order")
#include "sac_order_test.moc"
