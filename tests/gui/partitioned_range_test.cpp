// A range that is dragged in the timeline of a joint graph as partitioned drives the panes, and
// moves with the timeline to the joint graph and back.

#include <QStatusBar>
#include <QTest>

#include "core/schedule/range_figures.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/timeline_hand.h"
#include "tests/support/child.h"
#include "views/alive/alive_pane.h"
#include "views/inspector/inspector_pane.h"
#include "views/modules/modules_pane.h"
#include "views/operators/operators_pane.h"
#include "views/session/document/counterpart.h"
#include "views/session/document/mapped_range.h"
#include "views/session/document/shown_range.h"
#include "views/session/sac/sac_session.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"
#include "views/timeline/timeline_view.h"
#include "views/widgets/elided_label.h"
#include "views/widgets/range_chip.h"

namespace jointer {
namespace {

using namespace views;
using test::kPatienceMs;

std::int64_t column_sum(const TableModel& model, int column) {
  return model.totals().by_column[static_cast<std::size_t>(column)].value_or(0);
}

std::int64_t time_of(OperatorsPane& pane) {
  return column_sum(pane.model(), OperatorModel::time_column);
}

}  // namespace

class PartitionedRangeTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() {
    QVERIFY(open_sample());
    QVERIFY(QTest::qWaitFor(
        [this] { return document().sac().figures() && document().sac().is_settled(); },
        kPatienceMs));
    click_button("show_partitioned");
    QTRY_VERIFY_WITH_TIMEOUT(timeline().content().shown().graph.is_pair(), kPatienceMs);
    QTRY_VERIFY(timeline().layout().memory.width() > 100);
  }
  void cleanup() { close_window(); }

  void a_range_drives_the_panes_data() { add_sizes(); }
  void a_range_drives_the_panes();
  void rows_select_nodes_in_both_graphs();
  void the_range_moves_with_the_timeline();
  void a_range_without_nodes_in_the_other_graph_is_cleared();
  void escape_and_the_chip_clear_the_range();

 private:
  // The document of the timeline: the pair, or the joint graph.
  [[nodiscard]] Document& in_timeline() const { return timeline().content().document(); }
  [[nodiscard]] ShownRange& shown() const { return document().shown_range(); }
  [[nodiscard]] RangeTotals totals() const {
    const Document& of = in_timeline();
    return RangeFigures(of.graph(), of.analysis(), *of.selection().range()).totals();
  }
};

void PartitionedRangeTest::a_range_drives_the_panes() {
  resize();
  auto* operators = show_pane<OperatorsPane>("operators");
  auto* inspector = show_pane<InspectorPane>("inspector");
  QVERIFY(operators != nullptr && inspector != nullptr);
  test::drag_range(timeline(), 0.3, 0.9);
  QVERIFY(shown().is_partitioned());
  QVERIFY(in_timeline().selection().range().has_value());
  QVERIFY2(!document().selection().range(), "it is not a range of the joint graph's step");
  const RangeTotals t = totals();
  QVERIFY(t.recomputed > 0);
  QTRY_COMPARE(time_of(*operators), t.compute_ns + t.communication_ns);
  QCOMPARE(column_sum(operators->model(), OperatorModel::exposed_column), t.exposed_ns);
  QCOMPARE(column_sum(operators->model(), OperatorModel::flops_column), t.flops);
  // The pane says that it shows the pair, and that nodes run twice.
  const auto& note = test::child<ElidedLabel>(*operators, "range_note");
  QTRY_COMPARE(note.text(), "as partitioned, " + recomputed_text(t.recomputed));
  QVERIFY(note.isVisible());
  QTRY_COMPARE(inspector->content().title, QStringLiteral("Selected range, as partitioned"));
  QVERIFY(inspector->content().sections.front().title.startsWith("Range "));
  const QString page = inspector->page().toPlainText();
  QVERIFY(page.contains(bytes_text(t.allocated_bytes)));
  QVERIFY(page.contains("recomputed"));
  QVERIFY(page.contains(nodes_text(t.recomputed)));

  auto* modules = show_pane<ModulesPane>("modules");
  auto* alive = show_pane<AlivePane>("alive");
  QVERIFY(modules != nullptr && alive != nullptr);
  QTRY_COMPARE(column_sum(modules->model(), ModuleModel::forward_column) +
                   column_sum(modules->model(), ModuleModel::backward_column),
               t.compute_ns + t.communication_ns);
  QTRY_VERIFY(alive->model().sentence().contains(bytes_text(t.allocated_bytes)));
  QVERIFY(alive->model().sentence().contains(bytes_text(t.freed_bytes)));
  QVERIFY(!alive->view().isColumnHidden(AliveModel::change_column));
}

void PartitionedRangeTest::rows_select_nodes_in_both_graphs() {
  auto* operators = show_pane<OperatorsPane>("operators");
  QVERIFY(operators != nullptr);
  test::drag_range(timeline(), 0, 1.02);
  QTRY_COMPARE(time_of(*operators), totals().compute_ns + totals().communication_ns);
  OperatorModel& model = operators->model();
  int row = 0;
  while (model.text(row, 0) != "aten.silu.default") ++row;
  const QModelIndex index = model.index_of(row);
  operators->view().scrollTo(index);
  QTest::mouseClick(operators->view().viewport(), Qt::LeftButton, {},
                    operators->view().visualRect(index).center());
  const Document& pair = in_timeline();
  const auto selected = pair.selection().nodes();
  QCOMPARE(selected.size(), model.nodes(row).size());
  // Each of them runs twice in the pair, and is one node of the joint graph.
  QCOMPARE(document().selection().nodes().size() * 2, selected.size());
  for (const NodeId node : selected) {
    const NodeId other = counterpart(pair.graph(), node, document().graph());
    QVERIFY(document().selection().contains(other));
  }
  QCOMPARE(operators->view().selected_rows(), std::vector{row});
}

void PartitionedRangeTest::the_range_moves_with_the_timeline() {
  auto* operators = show_pane<OperatorsPane>("operators");
  QVERIFY(operators != nullptr);
  test::drag_range(timeline(), 0.4, 0.8);
  const Document& pair = in_timeline();
  const auto range = pair.selection().range();
  QVERIFY(range.has_value());
  const auto expected = mapped_range(pair.snapshot(), *range, document().snapshot());
  QVERIFY(expected.has_value());
  click_button("show_joint");
  QVERIFY(&in_timeline() == &document());
  QVERIFY(document().selection().range() == expected);
  QVERIFY(!pair.selection().range());
  QVERIFY(!shown().is_partitioned());
  QTRY_COMPARE(time_of(*operators), totals().compute_ns + totals().communication_ns);
  QCOMPARE(column_sum(operators->model(), OperatorModel::exposed_column), totals().exposed_ns);
  const auto& note = test::child<ElidedLabel>(*operators, "range_note");
  QTRY_VERIFY(note.text().isEmpty());

  click_button("show_partitioned");
  QVERIFY(shown().is_partitioned());
  QVERIFY(!document().selection().range());
  QVERIFY(pair.selection().range() ==
          mapped_range(document().snapshot(), *expected, pair.snapshot()));
  QTRY_COMPARE(time_of(*operators), totals().compute_ns + totals().communication_ns);
  // A range that begins in the joint graph moves too.
  click_button("show_joint");
  test::drag_range(timeline(), 0.1, 0.3);
  click_button("show_partitioned");
  QVERIFY(shown().is_partitioned());
  QTRY_COMPARE(time_of(*operators), totals().compute_ns + totals().communication_ns);
}

void PartitionedRangeTest::a_range_without_nodes_in_the_other_graph_is_cleared() {
  auto* operators = show_pane<OperatorsPane>("operators");
  QVERIFY(operators != nullptr);
  const std::int64_t whole = time_of(*operators);
  // Nothing runs yet in the first nanosecond, which is too short to be dragged.
  const TimeRange range{0, 1};
  in_timeline().selection().set_range(range);
  QVERIFY(!mapped_range(in_timeline().snapshot(), range, document().snapshot()));
  QTRY_VERIFY(time_of(*operators) < whole);
  click_button("show_joint");
  QVERIFY(!shown().range());
  QVERIFY(window_->statusBar()->currentMessage().startsWith("Range cleared"));
  QTRY_COMPARE(time_of(*operators), whole);
}

void PartitionedRangeTest::escape_and_the_chip_clear_the_range() {
  auto* operators = show_pane<OperatorsPane>("operators");
  QVERIFY(operators != nullptr);
  const std::int64_t whole = time_of(*operators);
  QVERIFY(whole > 0);
  test::drag_range(timeline(), 0.5, 0.9);
  QTRY_VERIFY(time_of(*operators) < whole);
  QTest::keyClick(&timeline(), Qt::Key_Escape);
  QVERIFY(!in_timeline().selection().range());
  QVERIFY(!shown().range());
  QTRY_COMPARE(time_of(*operators), whole);
  auto& chip = test::child<RangeChip>(*operators);
  QVERIFY(!chip.isVisible());

  test::drag_range(timeline(), 0.5, 0.9);
  QTRY_VERIFY(chip.isVisible());
  QTest::mouseClick(&chip, Qt::LeftButton);
  QVERIFY(!in_timeline().selection().range());
  QTRY_COMPARE(time_of(*operators), whole);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::PartitionedRangeTest, "partitioned_range")
#include "partitioned_range_test.moc"
