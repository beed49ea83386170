// Tests the SAC pane in the real window with mouse and keyboard.

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "core/graph/validate.h"
#include "core/policy/with_fsdp.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "views/graph/graph_pane.h"
#include "views/inspector/inspector_pane.h"
#include "views/modules/modules_pane.h"
#include "views/session/edit/metrics.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/text/number_text.h"
#include "views/window/scoreboard.h"

namespace jointer {
namespace {

using namespace views;
using desktop::MainWindow;
using test::kLarge;
using test::kPair;
using test::kPatienceMs;
using test::kSample;

}  // namespace

class SacTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }

  void shows_a_plan();
  void costs_when_fused_are_shown_on_request();
  void a_click_on_a_switch_ticks();
  void a_double_click_with_ctrl_does_not_tick();
  void keys_tick_what_is_selected();
  void a_node_of_another_pane_counts_alone();
  void several_rows_are_one_entry();
  void undo_and_redo_give_the_same_figures();
  void previews_the_result();
  void does_not_preview_without_user_input();
  void the_focus_goes_to_the_page_on_screen();
  void inspector_explains_why();
  void filter_uses_the_search_syntax();
  void solving_again_is_one_entry();
  void a_preset_is_one_entry();
  void peak_shows_its_tensors();
  void the_ladder_and_the_scoreboard_follow();
  void point_of_the_plot_is_applied();
  void opens_as_a_pair();
  void pairs_are_read_only();
  void a_pair_opens_as_a_joint_graph();
  void copies_rows_and_exports();
  void cancelling_allows_a_retry();
};

void SacTest::shows_a_plan() {
  QVERIFY(open(kSample));
  QVERIFY(session().state()->can_change());
  QVERIFY(model().row_count() > 50);
  const QAbstractItemModelTester tester(&model());
  for (const SacGrouping grouping :
       {SacGrouping::op, SacGrouping::module, SacGrouping::tensor, SacGrouping::layer})
    group_by(grouping);
  QCOMPARE(model().totals().things, session().state()->tensors.size());
  QVERIFY(labels_of(figures_row()).contains(bytes_text(figures().figures.peak_bytes)));
}

void SacTest::costs_when_fused_are_shown_on_request() {
  QVERIFY(open(kSample));
  auto& fused = test::child<QToolButton>(table(), "when_fused");
  QVERIFY(fused.isVisible());
  QVERIFY(table().view().isColumnHidden(SacModel::fused_column));
  QVERIFY(!document().kernels().shown());
  fused.click();
  QVERIFY(!table().view().isColumnHidden(SacModel::fused_column));
  QTRY_VERIFY_WITH_TIMEOUT(document().kernels().is_current(), kPatienceMs);
  group_by(SacGrouping::tensor);
  // Some tensors fuse into all of their readers.
  const auto fused_rows = [this] {
    std::size_t count = 0;
    for (const int row : model().shown(-1))
      count += model().number(row, SacModel::fused_column) ? 1 : 0;
    return count;
  };
  QTRY_VERIFY_WITH_TIMEOUT(fused_rows() > 0, kPatienceMs);
  QVERIFY(fused_rows() < static_cast<std::size_t>(model().rowCount()));
  fused.click();
  QVERIFY(table().view().isColumnHidden(SacModel::fused_column));
}

void SacTest::a_click_on_a_switch_ticks() {
  QVERIFY(open(kSample));
  const int row = largest(PlanAction::save);
  QVERIFY(row >= 0);
  const NodeId node = model().nodes(row).front();
  const PlanFigures before = figures();
  click_switch(row, PlanAction::recompute);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(action_of(node), PlanAction::recompute);
  QCOMPARE(document().graph().node(node).policy, MemoryPolicy::must_recompute);
  QVERIFY(figures().saved_bytes < before.saved_bytes || figures().recomputed > before.recomputed);
  QCOMPARE(model().text(model().row_of(node), SacModel::decider_column), QStringLiteral("user"));
}

void SacTest::a_double_click_with_ctrl_does_not_tick() {
  QVERIFY(open(kSample));
  const int row = largest(PlanAction::save);
  QVERIFY(row >= 0);
  const NodeId node = model().nodes(row).front();
  table().view().scrollTo(model().index_of(row));
  QTest::mouseDClick(table().view().viewport(), Qt::LeftButton, Qt::ControlModifier,
                     switch_of(row, PlanAction::recompute).center());
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 0);
  QCOMPARE(action_of(node), PlanAction::save);
}

void SacTest::keys_tick_what_is_selected() {
  QVERIFY(open(kSample));
  const int row = largest(PlanAction::save);
  const NodeId node = model().nodes(row).front();
  choose_row(row);
  table().view().setFocus();
  QTest::keyClick(&table().view(), Qt::Key_O);
  QVERIFY(settle());
  QCOMPARE(action_of(node), PlanAction::offload);
  const auto& offloaded = session().state()->plan.offloaded;
  QVERIFY(std::find(offloaded.begin(), offloaded.end(), node) != offloaded.end());
  QTest::keyClick(&table().view(), Qt::Key_S);
  QVERIFY(settle());
  QCOMPARE(action_of(node), PlanAction::save);
  QTest::keyClick(&table().view(), Qt::Key_Space);
  QVERIFY(settle());
  QCOMPARE(action_of(node), PlanAction::recompute);
  QTest::keyClick(&table().view(), Qt::Key_Delete);
  QVERIFY(settle());
  QCOMPARE(document().graph().node(node).policy, MemoryPolicy::none);
  QCOMPARE(session().state()->plan, session().state()->base->partition.plan);
}

void SacTest::a_node_of_another_pane_counts_alone() {
  QVERIFY(open(kSample));
  const int row = largest(PlanAction::save);
  const NodeId node = model().nodes(row).front();
  const NodeId other = model().nodes(rows_of(PlanAction::save).at(1)).front();
  group_by(SacGrouping::layer);
  table().view().collapseAll();
  document().selection().select(node);
  // Its own row is visible, and no group represents it.
  QCOMPARE(table().view().selected_rows(), std::vector{model().row_of(node)});
  const Graph before = document().graph();
  QAction* recompute = command("SAC: Recompute Selected");
  QVERIFY(recompute != nullptr);
  recompute->trigger();
  QVERIFY(settle());
  const auto tagged = [&] {
    std::vector<NodeId> nodes;
    for (const NodeId id : document().graph().order())
      if (document().graph().node(id).policy != before.node(id).policy) nodes.push_back(id);
    return nodes;
  };
  QCOMPARE(tagged(), std::vector{node});
  editing().undo();
  QVERIFY(settle());
  // Rows expanded for one node are collapsed for the next.
  int above = model().row_of(node);
  while (model().parent_row(above) >= 0) above = model().parent_row(above);
  document().selection().select_all({node, other});
  QVERIFY(table().view().selected_rows().empty());
  QVERIFY(!table().view().isExpanded(model().index_of(above)));
  table().view().setFocus();
  QTest::keyClick(&table().view(), Qt::Key_R);
  QVERIFY(settle());
  QCOMPARE(tagged(), (std::vector{std::min(node, other), std::max(node, other)}));
  // A node that is not a tensor of the plan gives a message and no edit.
  document().selection().clear();
  QSignalSpy messages(&pane(), &SacPane::message);
  QTest::keyClick(&table().view(), Qt::Key_S);
  QCOMPARE(messages.count(), 1);
  QCOMPARE(editing().entry_count(), 1);
}

void SacTest::several_rows_are_one_entry() {
  QVERIFY(open(kSample));
  group_by(SacGrouping::op);
  // A group stands for all rows below it.
  int group = -1;
  for (const int row : model().shown(-1))
    if (model().actions(row).of(PlanAction::save) > 1) group = row;
  QVERIFY(group >= 0);
  table().view().setFocus();
  choose_row(group);
  const std::size_t count = model().changeable(std::vector{group}, PlanAction::save).size();
  QVERIFY(count > 1);
  QTest::keyClick(&table().view(), Qt::Key_S);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  std::size_t tagged = 0;
  for (const NodeId node : document().graph().order())
    tagged += document().graph().node(node).policy == MemoryPolicy::must_save ? 1U : 0U;
  QVERIFY(tagged >= count);
}

void SacTest::undo_and_redo_give_the_same_figures() {
  QVERIFY(open(kSample));
  const PlanFigures before = figures();
  std::vector<PlanFigures> after{before};
  table().view().setFocus();
  for (int i = 0; i < 3; ++i) {
    choose_row(largest(PlanAction::save));
    QTest::keyClick(&table().view(), Qt::Key_R);
    QVERIFY(settle());
    after.push_back(figures());
  }
  QCOMPARE(editing().entry_count(), 3);
  for (int i = 2; i >= 0; --i) {
    editing().undo();
    QVERIFY(settle());
    QCOMPARE(figures(), after[static_cast<std::size_t>(i)]);
  }
  editing().go_to(3);
  QVERIFY(settle());
  QCOMPARE(figures(), after.back());
  editing().go_to(0);
  QVERIFY(settle());
  QCOMPARE(figures(), before);
}

void SacTest::previews_the_result() {
  QVERIFY(open(kSample));
  const int row = largest(PlanAction::save);
  const NodeId node = model().nodes(row).front();
  table().view().scrollTo(model().index_of(row));
  SacSession::Preview promised;
  QString said;
  connect(&session(), &SacSession::previewed, this, [&] {
    if (!session().shown_preview()) return;
    promised = *session().shown_preview();
    said = figures_row().what_if();
  });
  move_pointer(switch_of(row, PlanAction::recompute).center());
  QTRY_VERIFY_WITH_TIMEOUT(!promised.nodes.empty(), kPatienceMs);
  QCOMPARE(promised.nodes, std::vector{node});
  QVERIFY(!said.isEmpty());
  QCOMPARE(editing().entry_count(), 0);
  session().disconnect(this);
  click_switch(row, PlanAction::recompute);
  QVERIFY(settle());
  QCOMPARE(figures(), promised.outcome->figures);
  // The preview disappears when the pointer leaves.
  move_pointer({2, 2});
  QTRY_VERIFY(!session().shown_preview().has_value());
}

void SacTest::does_not_preview_without_user_input() {
  QVERIFY(open(kSample));
  const QSignalSpy asked(&session(), &SacSession::previewed);
  // The focus gives the table a current row.
  filter().setFocus();
  table().view().setFocus();
  QVERIFY(table().view().currentIndex().isValid());
  QTest::qWait(100);
  QVERIFY(settle());
  QCOMPARE(asked.count(), 0);
  // A key requests a preview, which ends with the focus.
  QTest::keyClick(&table().view(), Qt::Key_Down);
  QTRY_VERIFY_WITH_TIMEOUT(session().shown_preview().has_value(), kPatienceMs);
  filter().setFocus();
  QVERIFY(!session().shown_preview().has_value());
}

// A click on an empty part of the dock gives the focus to the pane, which passes it on.
void SacTest::the_focus_goes_to_the_page_on_screen() {
  QVERIFY(open(kSample));
  for (int i = 0; i < pages().count(); ++i) {
    pages().setCurrentIndex(i);
    pane().setFocus(Qt::MouseFocusReason);
    QWidget* focus = QApplication::focusWidget();
    QVERIFY(focus != nullptr);
    QVERIFY2(focus->isVisible() && pages().currentWidget()->isAncestorOf(focus),
             qPrintable(pages().tabText(i)));
  }
}

void SacTest::inspector_explains_why() {
  QVERIFY(open(kSample));
  QTRY_VERIFY_WITH_TIMEOUT(window_->dock("inspector")->pane() != nullptr, kPatienceMs);
  const auto& inspector = *qobject_cast<InspectorPane*>(window_->dock("inspector")->pane());
  const int row = largest(PlanAction::save);
  const NodeId node = model().nodes(row).front();
  choose_row(row);
  const auto said = [&] {
    const InspectorSection& section = inspector.content().sections.front();
    return section.rows.size() < 2 ? QString() : section.rows[1].value;
  };
  QCOMPARE(said(), model().text(row, SacModel::why_column));
  // The margin, the step under other decisions, equal tensors and other solvers follow.
  const auto line = [&](const QString& label) {
    for (const InspectorRow& r : inspector.content().sections.front().rows)
      if (r.label == label) return r.value;
    return QString();
  };
  QTRY_VERIFY_WITH_TIMEOUT(line(QStringLiteral("solvers")).startsWith("At this peak, torch's dp"),
                           kPatienceMs);
  QVERIFY2(line(QStringLiteral("value")).startsWith("Recomputing it would free "),
           qPrintable(line(QStringLiteral("value"))));
  QVERIFY(!line(QStringLiteral("margin")).isEmpty());
  QVERIFY(line(QStringLiteral("otherwise")).startsWith("If it were recomputed, "));
  // The pane says the same below its table, if it is high enough.
  window_->resize(window_->width(), 1400);
  window_->resizeDocks({window_->dock("sac")}, {900}, Qt::Vertical);
  const auto& reasons = test::child<QPlainTextEdit>(pane(), "reasons");
  QTRY_VERIFY(reasons.isVisible());
  for (const char* label : {"why", "value", "margin", "otherwise", "solvers"})
    QVERIFY2(reasons.toPlainText().contains(line(QString::fromLatin1(label))), label);
  command("SAC: Recompute Selected")->trigger();
  QVERIFY(settle());
  // Another plan gives another reason; the reason of edits comes first.
  const auto says = [&](const QString& why) {
    for (const InspectorSection& section : inspector.content().sections)
      for (const InspectorRow& r : section.rows)
        if (r.value == why) return true;
    return false;
  };
  QTRY_VERIFY(says(model().text(model().row_of(node), SacModel::why_column)));
}

void SacTest::filter_uses_the_search_syntax() {
  QVERIFY(open(kSample));
  group_by(SacGrouping::tensor);
  const std::size_t all = model().totals().things;
  QTest::keyClicks(&filter(), "mod:layers.0 op:mm");
  const std::size_t some = model().totals().things;
  QVERIFY(some > 0 && some < all);
  for (const int row : model().shown(-1))
    QVERIFY(model().text(row, SacModel::op_column).contains("mm"));
  QTest::keyClick(&filter(), Qt::Key_Escape);
  QCOMPARE(model().totals().things, all);
}

void SacTest::solving_again_is_one_entry() {
  QVERIFY(open(kSample));
  const PlanFigures before = figures();
  bar().budget().box().setValue(0.0);
  QCOMPARE(figures(), before);  // nothing changes before it is requested
  test::press(button("solve"));
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(session().state()->base->settings.activation_budget, 0.0);
  QVERIFY(figures().saved_bytes < before.saved_bytes);
  editing().undo();
  QVERIFY(settle());
  QCOMPARE(figures(), before);
  QCOMPARE(bar().budget().box().value(), 1.0);
}

void SacTest::a_preset_is_one_entry() {
  QVERIFY(open(kSample));
  const QList<QAction*> actions = bar().presets().actions();
  const auto apply_sac = std::ranges::find_if(
      actions, [](const QAction* action) { return action->text() == QStringLiteral("apply_sac"); });
  QVERIFY(apply_sac != actions.end());
  const MemoryPolicy fsdp = fsdp_policy(document().graph());
  QVERIFY(fsdp != MemoryPolicy::none);
  (*apply_sac)->trigger();
  QVERIFY(settle());
  QCOMPARE(fsdp_policy(document().graph()), fsdp);
  QCOMPARE(editing().entry_count(), 1);
  std::size_t by_preset = 0;
  for (const SacTensor& tensor : session().state()->tensors)
    by_preset += tensor.decider == Decider::preset ? 1U : 0U;
  QVERIFY(by_preset > 0);
  editing().undo();
  QVERIFY(settle());
  for (const SacTensor& tensor : session().state()->tensors)
    QVERIFY(tensor.decider != Decider::preset);
}

void SacTest::peak_shows_its_tensors() {
  QVERIFY(open(kSample));
  pane().setMinimumHeight(600);  // in a lower pane, the curve is only in the timeline
  auto& curve = test::child<PlanCurve>(pane());
  QTRY_VERIFY(curve.isVisible());
  QTest::mouseClick(&curve, Qt::LeftButton, {}, curve.peak_place());
  QVERIFY(model().shows_only_some());
  const auto rows = model().shown(-1);
  QVERIFY(!rows.empty());
  for (const int row : rows) QVERIFY(model().actions(row).one() == PlanAction::save);
  // Best candidates first.
  std::optional<std::int64_t> last;
  for (const int row : rows) {
    const auto worth = model().number(row, SacModel::worth_column);
    QVERIFY(!last || !worth || *worth <= *last);
    last = worth;
  }
  QTest::mouseClick(table().findChild<QToolButton*>("show_all"), Qt::LeftButton);
  QVERIFY(!model().shows_only_some());
}

void SacTest::the_ladder_and_the_scoreboard_follow() {
  QVERIFY(open(kSample));
  // It is behind the pane and is updated nevertheless.
  window_->dock("graph")->raise();
  QTRY_VERIFY_WITH_TIMEOUT(window_->dock("graph")->pane() != nullptr, kPatienceMs);
  window_->dock("sac")->raise();
  auto* graph = qobject_cast<GraphPane*>(window_->dock("graph")->pane());
  const auto saved = [&] {
    std::int64_t bytes = 0;
    for (const LadderRow& row : graph->view().model().ladder().rows())
      if (row.parent < 0) bytes += row.saved[static_cast<std::size_t>(RungState::save)];
    return bytes;
  };
  const std::int64_t before = saved();
  QVERIFY(before > 0);
  QCOMPARE(before, figures().saved_bytes);
  group_by(SacGrouping::tensor);
  table().view().setFocus();
  table().view().selectAll();
  QTest::keyClick(&table().view(), Qt::Key_R);
  QVERIFY(settle());
  QVERIFY(saved() < before);
  // Attention is recomputed: random generator states on the CPU have no rung.
  constexpr std::int64_t kState = 5056;
  const auto states = static_cast<std::int64_t>(session().state()->plan.redrawn.size()) * kState;
  QCOMPARE(saved() + states, figures().saved_bytes);
  QVERIFY(labels_of(*window_->findChild<Scoreboard*>())
              .contains(QStringLiteral("%1 · %2").arg(bytes_text(figures().figures.peak_bytes),
                                                      time_text(figures().figures.step_ns))));
  auto* modules = show_pane<ModulesPane>("modules");
  QVERIFY(modules != nullptr);
  const auto of_modules = [&] {
    return modules->model().totals().by_column[ModuleModel::saved_column].value_or(0);
  };
  QTRY_COMPARE_WITH_TIMEOUT(of_modules(), saved(), kPatienceMs);
}

void SacTest::point_of_the_plot_is_applied() {
  QVERIFY(open(kSample));
  editing().keep_state(QStringLiteral("as opened"));
  QVERIFY(search_trade_off());
  ParetoPage& page = pareto();
  const auto& marks = page.plot().marks();
  const auto kind = [&](ParetoKind wanted) {
    return std::ranges::count(marks, wanted, &ParetoMark::kind);
  };
  QCOMPARE(kind(ParetoKind::now), 1);
  QTRY_COMPARE_WITH_TIMEOUT(kind(ParetoKind::named), 1, kPatienceMs);
  QVERIFY(kind(ParetoKind::preset) > 0);
  QVERIFY(kind(ParetoKind::budget) > 0);
  // The smallest plan of the curve, chosen by mouse.
  const auto at = std::ranges::find(marks, ParetoKind::curve, &ParetoMark::kind);
  QVERIFY(at != marks.end());
  const ParetoMark wanted = *at;
  QTest::mouseClick(&page.plot(), Qt::LeftButton, {},
                    page.plot().place_of(static_cast<std::size_t>(at - marks.begin())));
  QVERIFY(settle());
  QVERIFY(editing().entry_count() <= 1);
  QVERIFY(figures().figures.peak_bytes <= wanted.peak_bytes);
  editing().undo();
  QVERIFY(settle());
}

void SacTest::opens_as_a_pair() {
  QVERIFY(open(kSample));
  // The pair is estimated like the joint graph.
  AnalysisOptions options = document().analysis().options;
  options.estimator.gpus_per_node = 2;
  options.memory.optimizer = OptimizerState::adamw;
  QSignalSpy changed(&document(), &Document::changed);
  document().analyze_with(options);
  QVERIFY(changed.wait(kPatienceMs));
  QVERIFY(settle());
  const PlanFigures promised = figures();
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  emit bar().pair_wanted();
  QVERIFY(opened.wait(kPatienceMs));
  QCOMPARE(test::tab_count(*window_), 2);
  const Graph& pair = document().graph();
  QVERIFY(pair.is_pair());
  QVERIFY(validate(pair));
  QVERIFY(same_options(document().analysis().options, options));
  // The pair has the numbers that the pane predicted.
  QCOMPARE(document().analysis().memory.peak_bytes(), promised.figures.peak_bytes);
  QCOMPARE(document().analysis().simulation.step_ns(), promised.figures.step_ns);
}

void SacTest::pairs_are_read_only() {
  QVERIFY(open(kPair));
  QVERIFY(!session().state()->can_change());
  QVERIFY(model().row_count() > 0);
  table().view().setFocus();
  table().view().selectAll();
  QTest::keyClick(&table().view(), Qt::Key_R);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 0);
  QVERIFY(!bar().isVisible());
}

void SacTest::a_pair_opens_as_a_joint_graph() {
  QVERIFY(open(kPair));
  auto* button = window_->findChild<QPushButton*>(QStringLiteral("to_joint"));
  QVERIFY(button != nullptr && button->isVisible());
  const std::int64_t peak = document().analysis().memory.peak_bytes();
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  QTest::mouseClick(button, Qt::LeftButton);
  QVERIFY(opened.wait(kPatienceMs));
  QCOMPARE(test::tab_count(*window_), 2);
  QVERIFY(!document().graph().is_pair());
  QVERIFY(validate(document().graph()));
  QTRY_VERIFY_WITH_TIMEOUT(session().state() && session().state()->can_change(), kPatienceMs);
  QCOMPARE(figures().figures.peak_bytes, peak);
}

void SacTest::copies_rows_and_exports() {
  QVERIFY(open(kSample));
  group_by(SacGrouping::tensor);
  table().view().setFocus();
  table().view().selectAll();
  QTest::keyClick(&table().view(), Qt::Key_C, Qt::ControlModifier);
  const QStringList lines = QApplication::clipboard()->text().split(u'\n', Qt::SkipEmptyParts);
  QCOMPARE(static_cast<std::size_t>(lines.size()), session().state()->tensors.size() + 1);
  QVERIFY(lines.front().contains("policy"));
  QVERIFY(copy_plan(PolicyFormat::torchtitan));
  QVERIFY(QApplication::clipboard()->text().contains("torch.ops"));
}

void SacTest::cancelling_allows_a_retry() {
  auto graph = open_graph({.path = test::source_path(kLarge)});
  QVERIFY(graph.has_value());
  const auto snapshot = make_snapshot(*std::move(graph), {});
  QVERIFY(snapshot.has_value());
  Document document({}, *snapshot);
  SacSession& session = document.sac();
  session.start();
  QVERIFY(session.is_working());
  session.cancel();
  QVERIFY(session.state() == nullptr);
  QVERIFY(!session.is_working());
  QVERIFY(!session.problem().isEmpty());
  // A cancelled request is not applied later.
  QTest::qWait(50);
  QVERIFY(session.state() == nullptr);
  session.start();
  QTRY_VERIFY_WITH_TIMEOUT(session.state() != nullptr, kPatienceMs);
  QVERIFY(session.problem().isEmpty());
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::SacTest, "sac")
#include "sac_test.moc"
