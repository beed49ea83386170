// Tests the panes with real keyboard and mouse events on the offscreen platform.

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTest>

#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/snapshots.h"
#include "views/alive/alive_pane.h"
#include "views/find/find_bar.h"
#include "views/graph/ladder_model.h"
#include "views/inspector/inspector_pane.h"
#include "views/modules/modules_pane.h"
#include "views/operators/operators_pane.h"
#include "views/palette/command_palette.h"
#include "views/palette/keys_help.h"
#include "views/session/sac/sac_session.h"
#include "views/session/text/number_text.h"
#include "views/widgets/figure_box.h"
#include "views/window/scoreboard.h"

namespace jointer::views {
namespace {

using test::child;

constexpr QSize kSize(900, 400);

void show(QWidget& widget) {
  widget.resize(kSize);
  widget.show();
  QVERIFY(QTest::qWaitForWindowExposed(&widget));
}

void click(TableView& view, const QModelIndex& index,
           Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
  QTest::mouseClick(view.viewport(), Qt::LeftButton, modifiers, view.visualRect(index).center());
}

QString status(const FindBar& bar) {
  return child<QLabel>(bar, "status").text();
}

QString footer(const TablePane& pane) {
  return child<QLabel>(pane, "footer").text();
}

void filter_by(const TablePane& pane, const char* text) {
  QTest::keyClicks(&child<QLineEdit>(pane, "filter"), text);
}

QString cell(const TableView& view, int row, int column = 0) {
  return view.model()->index(row, column).data().toString();
}

}  // namespace

class PanesTest : public QObject {
  Q_OBJECT

 private:
  [[nodiscard]] NodeId node(const char* name) const { return document_->graph().find(name); }
  [[nodiscard]] Selection& selection() const { return document_->selection(); }
  [[nodiscard]] QString current() const {
    return selection().current()
               ? QString::fromStdString(std::string(document_->graph().name(selection().current())))
               : QString();
  }

  std::unique_ptr<Document> document_;

 private slots:
  void init() {
    document_ = std::make_unique<Document>(OpenRequest{}, test::snapshot_of(test::kSmallStep));
  }

  void filters_while_typing() {
    OperatorsPane pane(*document_);
    show(pane);
    QCOMPARE(pane.model().rowCount(), 6);
    filter_by(pane, "mul");
    QCOMPARE(pane.model().rowCount(), 1);
    QCOMPARE(cell(pane.view(), 0), "aten.mul.Tensor");
    QVERIFY(footer(pane).startsWith("1 operator · 2 nodes"));
    child<QLineEdit>(pane, "filter").clear();
    QCOMPARE(pane.model().rowCount(), 6);
  }

  void sorts_by_clicks_on_a_header() {
    OperatorsPane pane(*document_);
    show(pane);
    QHeaderView* header = pane.view().header();
    pane.view().horizontalScrollBar()->setValue(0);
    const QPoint at(header->sectionViewportPosition(OperatorModel::count_column) + 20,
                    header->height() / 2);
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at);
    QCOMPARE(cell(pane.view(), 0, OperatorModel::count_column), "4");  // the largest first
    QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at);
    QCOMPARE(cell(pane.view(), 0, OperatorModel::count_column), "1");
  }

  void colors_in_selected_rows_are_those_of_the_legend() {
    AlivePane pane(*document_);
    show(pane);
    click(pane.view(), pane.model().index(0, AliveModel::name_column));
    // The frame of the focus, which tints the current row, moves on.
    QTest::keyClick(&pane.view(), Qt::Key_Down, Qt::ShiftModifier);
    const QModelIndex category = pane.model().index(0, AliveModel::category_column);
    QVERIFY(pane.view().selectionModel()->isSelected(category));
    const QRect cell = pane.view().visualRect(category);
    const QImage image = pane.view().viewport()->grab().toImage();
    QCOMPARE(image.pixel(cell.left() + 12, cell.center().y()),
             category.data(Qt::DecorationRole).value<QColor>().rgb());
  }

  void a_click_on_a_row_selects_its_nodes() {
    OperatorsPane pane(*document_);
    show(pane);
    const QModelIndex mm = pane.model().index_of(pane.model().row_of(node("mm")));
    click(pane.view(), mm);
    QCOMPARE(selection().nodes().size(), 4U);
    const QModelIndex relu = pane.model().index_of(pane.model().row_of(node("relu")));
    click(pane.view(), relu, Qt::ControlModifier);
    QCOMPARE(selection().nodes().size(), 6U);
    QVERIFY(footer(pane).startsWith("Selected: 2 operators · 6 nodes"));
    // Select one node elsewhere: its row is shown, and clicking it selects all of its nodes again.
    selection().select(node("mm"));
    QCOMPARE(pane.view().selected_rows(), std::vector{pane.model().row_of(node("mm"))});
    QCOMPARE(selection().nodes().size(), 1U);
    click(pane.view(), mm);
    QCOMPARE(selection().nodes().size(), 4U);
  }

  void enter_shows_the_first_node() {
    OperatorsPane pane(*document_);
    show(pane);
    QSignalSpy activated(&pane, &TablePane::node_activated);
    click(pane.view(), pane.model().index_of(pane.model().row_of(node("relu"))));
    QTest::keyClick(&pane.view(), Qt::Key_Return);
    QCOMPARE(activated.count(), 1);
    QCOMPARE(activated.front().front().value<NodeId>(), node("relu"));
  }

  void copies_rows_as_tsv() {
    OperatorsPane pane(*document_);
    show(pane);
    pane.view().sortByColumn(OperatorModel::name_column, Qt::AscendingOrder);
    click(pane.view(), pane.model().index(0, 0));
    click(pane.view(), pane.model().index(1, 0), Qt::ShiftModifier);
    QTest::keyClick(&pane.view(), Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QApplication::clipboard()->text().split('\n');
    QCOMPARE(lines.size(), 4);
    QVERIFY(
        lines[0].startsWith("operator\tcount\ttime ms\tshare\texposed ms\toutput bytes\tFLOPs"));
    QVERIFY(lines[1].startsWith("_c10d_functional.all_reduce.default\t1\t0."));
    QCOMPARE(lines[1].count('\t'), lines[0].count('\t'));
  }

  void copies_all_visible_rows() {
    OperatorsPane pane(*document_);
    show(pane);
    filter_by(pane, "aten.m");
    pane.copy_all();
    const QStringList lines = QApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), pane.model().rowCount() + 1);
    QVERIFY(lines[1].startsWith("aten.m"));
  }

  // The second choice keeps the first one, which is still being analyzed.
  void quick_choices_of_estimates_add_up() {
    Scoreboard scoreboard(*document_);
    show(scoreboard);
    test::choose(child<QComboBox>(scoreboard, "optimizer"), "AdamW fp32 state");
    auto& device = child<QComboBox>(scoreboard, "device");
    const int a100 = device.findData(QString("a100"));
    QVERIFY(a100 >= 0);
    device.setCurrentIndex(a100);
    emit device.activated(a100);
    QTRY_COMPARE(QString::fromStdString(document_->analysis().options.estimator.device),
                 QString("a100"));
    QVERIFY(document_->analysis().options.memory.optimizer == OptimizerState::adamw);
  }

  void one_switch_shows_the_step_as_the_compiler_runs_it() {
    Scoreboard scoreboard(*document_);
    show(scoreboard);
    auto& box = child<QComboBox>(scoreboard, "execution");
    QCOMPARE(box.currentText(), QStringLiteral("Eager"));
    QVERIFY(box.focusPolicy() != Qt::NoFocus);
    const std::int64_t eager_ns = document_->analysis().simulation.step_ns();
    test::choose(box, "Inductor");
    QTRY_VERIFY(document_->analysis().options.execution == Execution::inductor);
    QCOMPARE(box.currentText(), QStringLiteral("Inductor"));
    QVERIFY2(box.toolTip().contains("predicted for Inductor in torch"), qPrintable(box.toolTip()));
    QVERIFY(document_->analysis().simulation.step_ns() != eager_ns);
    const auto step = [&] {
      for (auto* figure : scoreboard.findChildren<FigureBox*>())
        if (figure->name() == QStringLiteral("Step")) return figure->value().text();
      return QString();
    };
    QCOMPARE(step(), time_text(document_->analysis().simulation.step_ns()));
    // Nothing is marked for regional compilation: the reason is shown, and the switch goes back.
    QSignalSpy failed(document_.get(), &Document::failed);
    test::choose(box, "Regional");
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(failed.front().front().toString().contains("compile_with_inductor"));
    QTRY_COMPARE(box.currentText(), QStringLiteral("Inductor"));
    test::choose(box, "Eager");
    QTRY_COMPARE(document_->analysis().simulation.step_ns(), eager_ns);
  }

  void the_throughput_is_explained_with_its_divisors() {
    const Scoreboard scoreboard(*document_);
    QStringList found;
    for (auto* figure : scoreboard.findChildren<FigureBox*>())
      found << figure->property("how").toString();
    const QStringList throughput = found.filter(QStringLiteral("Throughput per device"));
    QCOMPARE(throughput.size(), 1);
    QVERIFY(throughput.front().contains("parallel degrees"));
  }

  void new_snapshot_keeps_expansion_and_selection() {
    ModulesPane pane(*document_);
    show(pane);
    const int layer = pane.model().row_of(node("relu"));
    const QModelIndex index = pane.model().index_of(layer);
    pane.view().expandAll();
    click(pane.view(), index);
    QSignalSpy changed(document_.get(), &Document::changed);
    QSignalSpy nodes_changed(&selection(), &Selection::nodes_changed);
    document_->analyze_with({.memory = {.optimizer = OptimizerState::adamw}});
    QVERIFY(changed.wait(5000));
    QVERIFY(pane.view().isExpanded(pane.model().index_of(layer)));
    QCOMPARE(pane.view().selected_rows(), std::vector{layer});
    QCOMPARE(nodes_changed.count(), 0);
  }

  // Both show what the tags save before the SAC session starts.
  void graph_and_modules_apply_the_tags_of_a_step_once() {
    Document step(OpenRequest{.path = "/tmp/step.json"}, test::snapshot_of(R"(
      kind train_step
      x: f32[64] = input
      dy: f32[8,8] = input
      a: f32[64] = aten.cos(x)               {m MUST_RECOMPUTE}
      b: f32[64] = aten.silu(a)              {m}
      c: f32[64] = aten.tanh(b)              {m}
      d: f32[8,8] = aten.view(c, [8, 8])     {n}
      e: f32[8,8] = aten.mul.Tensor(d, d)    {n}
      g: f32[8,8] = aten.mul.Tensor(dy, d)   {n backward}
      h: f32[64] = aten.view(g, [64])        {m backward}
      i: f32[64] = aten.mul.Tensor(h, b)     {m backward}
      j: f32[64] = aten.silu_backward(i, a)  {m backward}
      return [e, j]
    )"));
    QSignalSpy found(&step.sac().tags(), &StepTags::found);
    const LadderModel graph(step, 900);
    ModulesPane pane(step);
    show(pane);
    const auto of_graph = [&] {
      std::int64_t sum = 0;
      for (const LadderRow& row : graph.ladder().rows())
        if (row.parent < 0) sum += row.saved[static_cast<std::size_t>(RungState::save)];
      return sum;
    };
    const auto of_modules = [&] {
      return pane.model().totals().by_column[ModuleModel::saved_column].value_or(0);
    };
    QTRY_COMPARE(found.count(), 1);
    const std::shared_ptr<const TagsOutcome> outcome =
        step.sac().tags().known(step.shared_snapshot());
    QVERIFY(outcome != nullptr);
    std::int64_t saved = 0;
    for (const SavedValue& value : outcome->saved) saved += value.bytes;
    QVERIFY(saved > 0);
    QCOMPARE(of_graph(), saved);
    QTRY_COMPARE(of_modules(), saved);
    QVERIFY(!step.sac().is_started());
    QCOMPARE(found.count(), 1);
  }

  void selecting_elsewhere_expands_nothing() {
    ModulesPane pane(*document_);
    show(pane);
    pane.view().collapseAll();
    selection().select(node("mm"));
    // The two layers share a row, which is shown but not expanded.
    QCOMPARE(pane.view().selected_rows().size(), 1U);
    QCOMPARE(cell(pane.view(), pane.view().currentIndex().row()), "layers.0..1  ×2");
    pane.view().expandAll();
    selection().select(node("mm_1"));
    QCOMPARE(pane.view().selected_rows(), std::vector{pane.model().row_of(node("mm_1"))});
  }

  void alive_follows_the_moment() {
    AlivePane pane(*document_);
    show(pane);
    QVERIFY(pane.model().sentence().startsWith("At the peak"));
    selection().set_moment(0);
    QCOMPARE(pane.model().columns()[AliveModel::share_column].whole,
             document_->analysis().memory.profile()[0]);
    QVERIFY(pane.model().sentence().startsWith("At the start"));
    // A hidden pane waits and catches up when it is shown.
    pane.hide();
    selection().set_moment(1);
    QCOMPARE(pane.model().moment(), 0U);
    pane.show();
    QCOMPARE(pane.model().moment(), 1U);
  }

  void alive_groups_on_request() {
    AlivePane pane(*document_);
    show(pane);
    auto& grouping = child<QComboBox>(pane);
    QTest::keyClick(&grouping, Qt::Key_Down);
    QCOMPARE(grouping.currentText(), "By module");
    QVERIFY(pane.view().rootIsDecorated());
    QTest::keyClick(&grouping, Qt::Key_Down);
    QCOMPARE(grouping.currentText(), "By category");
    QVERIFY(pane.model().hasChildren(pane.model().index(0, 0)));
    // Expanded rows stay expanded when the moment changes.
    pane.view().setExpanded(pane.model().index(0, 0), true);
    const QString open = cell(pane.view(), 0);
    selection().set_moment(3);
    for (int row = 0; row < pane.model().rowCount(); ++row)
      QCOMPARE(pane.view().isExpanded(pane.model().index(row, 0)), cell(pane.view(), row) == open);
  }

  void an_empty_filter_result_says_so() {
    AlivePane pane(*document_);
    show(pane);
    filter_by(pane, "zzz");
    QCOMPARE(pane.model().rowCount(), 0);
    const auto labels = pane.view().viewport()->findChildren<QLabel*>();
    QCOMPARE(labels.size(), 1);
    QVERIFY(labels.front()->isVisible());
    QVERIFY(labels.front()->text().contains("zzz"));
  }

  void rows_are_high_enough_to_hit() {
    AlivePane pane(*document_);
    show(pane);
    QVERIFY(pane.view().visualRect(pane.model().index(0, 0)).height() >= 20);
  }

  void a_link_in_the_inspector_selects_the_node() {
    InspectorPane pane(*document_);
    pane.resize(420, 800);
    pane.show();
    QVERIFY(QTest::qWaitForWindowExposed(&pane));
    QVERIFY(pane.page().toPlainText().contains("Nothing selected"));
    selection().select(node("mm"));
    QVERIFY(pane.page().toPlainText().contains("aten.mm.default"));
    QTest::mouseClick(pane.page().viewport(), Qt::LeftButton, {},
                      test::place_of_link(pane.page(), "relu"));
    QCOMPARE(current(), "relu");
    selection().select_all({node("mm"), node("relu")});
    QVERIFY(pane.page().toPlainText().startsWith("2 nodes"));
  }

  void finds_while_typing_and_steps_through_matches() {
    FindBar bar(*document_);
    bar.resize(700, 34);
    bar.open();
    QVERIFY(QTest::qWaitForWindowExposed(&bar));
    QTest::keyClicks(&bar.edit(), "op:mm");
    QCOMPARE(status(bar), "1 of 4");
    QCOMPARE(current(), "mm");
    QTest::keyClick(&bar.edit(), Qt::Key_Return);
    QCOMPARE(current(), "mm_1");
    QTest::keyClick(&bar.edit(), Qt::Key_F3);
    QCOMPARE(current(), "gw1");
    QTest::keyClick(&bar.edit(), Qt::Key_Return, Qt::ShiftModifier);
    QCOMPARE(current(), "mm_1");
    QCOMPARE(status(bar), "2 of 4");
    QTest::keyClick(&bar.edit(), Qt::Key_Return);
    QTest::keyClick(&bar.edit(), Qt::Key_Return);
    QTest::keyClick(&bar.edit(), Qt::Key_Return);
    QCOMPARE(current(), "mm");  // wraps around to the first one
    QTest::keyClick(&bar.edit(), Qt::Key_Return, Qt::ControlModifier);
    QCOMPARE(selection().nodes().size(), 4U);
  }

  void find_keeps_the_selection_when_the_graph_changes() {
    FindBar bar(*document_);
    bar.open();
    QTest::keyClicks(&bar.edit(), "op:mm");
    selection().select(node("relu"));
    QSignalSpy changed(document_.get(), &Document::changed);
    document_->analyze_with({.memory = {.optimizer = OptimizerState::adamw}});
    QVERIFY(changed.wait(5000));
    QCOMPARE(current(), "relu");
    QCOMPARE(status(bar), "4 matches");
    bar.close_bar();
    bar.next();
    QCOMPARE(current(), "mm_1");
  }

  void find_reports_errors_and_closes() {
    FindBar bar(*document_);
    bar.open();
    selection().select(node("relu"));
    QTest::keyClicks(&bar.edit(), "bytes>");
    QVERIFY(status(bar).contains("Expected a number"));
    QCOMPARE(current(), "relu");  // the selection stays
    bar.edit().setText("nothing_like_that");
    QCOMPARE(status(bar), "no match");
    QSignalSpy closed(&bar, &FindBar::closed);
    QTest::keyClick(&bar.edit(), Qt::Key_Escape);
    QCOMPARE(closed.count(), 1);
    QVERIFY(!bar.isVisible());
  }

  void find_remembers() {
    FindBar bar(*document_);
    bar.open();
    for (const char* query : {"op:mm", "op:relu"}) {
      bar.edit().setText(query);
      QTest::keyClick(&bar.edit(), Qt::Key_Return);
    }
    QCOMPARE(bar.history(), QStringList({"op:relu", "op:mm"}));
    bar.edit().clear();
    QTest::keyClick(&bar.edit(), Qt::Key_Up);
    QCOMPARE(bar.edit().text(), "op:relu");
    QTest::keyClick(&bar.edit(), Qt::Key_Up);
    QCOMPARE(bar.edit().text(), "op:mm");
    QTest::keyClick(&bar.edit(), Qt::Key_Down);
    QCOMPARE(bar.edit().text(), "op:relu");
  }

  void palette_runs_an_action() {
    QWidget window;
    show(window);
    QAction open("&Open…"), fit("Fit");
    QSignalSpy triggered(&fit, &QAction::triggered);
    CommandPalette palette(&window);
    palette.set_actions({&open, &fit});
    palette.open();
    QVERIFY(palette.isVisible());
    QTest::keyClicks(&palette.edit(), "ft");
    QTest::keyClick(&palette.edit(), Qt::Key_Return);
    QCOMPARE(triggered.count(), 1);
    QVERIFY(!palette.isVisible());
  }

  void palette_goes_to_a_node_by_keys() {
    QWidget window;
    show(window);
    CommandPalette palette(&window);
    palette.set_document(document_.get());
    QSignalSpy chosen(&palette, &CommandPalette::node_chosen);
    palette.open();
    QTest::keyClicks(&palette.edit(), "@relu");
    QTest::keyClick(&palette.edit(), Qt::Key_Down);
    QTest::keyClick(&palette.edit(), Qt::Key_Return);
    QCOMPARE(chosen.count(), 1);
    QCOMPARE(current(), "relu_1");
    palette.open();
    QTest::keyClick(&palette.edit(), Qt::Key_Escape);
    QVERIFY(!palette.isVisible());
  }

  void palette_skips_disabled_actions() {
    QWidget window;
    show(window);
    QAction off("Fit all"), on("Fit selection");
    off.setEnabled(false);
    QSignalSpy triggered(&on, &QAction::triggered);
    CommandPalette palette(&window);
    palette.set_actions({&off, &on});
    palette.open();
    QTest::keyClick(&palette.edit(), Qt::Key_Return);
    QCOMPARE(triggered.count(), 1);
  }

  void keys_help_filters() {
    QAction fit("Fit");
    fit.setShortcut(Qt::Key_F);
    KeysHelp help({keys_of("View", {&fit}), {"Timeline", {{"Ctrl+wheel", "zoom at the pointer"}}}});
    show(help);
    const auto shown_text = [&] { return child<QTextBrowser>(help).toPlainText(); };
    QVERIFY(shown_text().contains("zoom at the pointer"));
    QTest::keyClicks(&child<QLineEdit>(help), "fit");
    QVERIFY(shown_text().contains("Fit"));
    QVERIFY(!shown_text().contains("zoom"));
  }

  // An action's list of shortcuts may contain an empty one.
  void keys_help_leaves_out_actions_without_keys() {
    QAction merge("Merge Collectives");
    merge.setShortcuts({QKeySequence()});
    QVERIFY(keys_of("Edit", {&merge}).rows.isEmpty());
  }
};

}  // namespace jointer::views

JOINTER_GUI_TEST(jointer::views::PanesTest, "panes")
#include "panes_test.moc"
