// Tests the SAC pane with a flat training step: ticks are tags, whose effect is previewed and then
// applied as one history entry.

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QLabel>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>

#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/graph/layers.h"
#include "core/graph/validate.h"
#include "core/open/open.h"
#include "core/partition/partitioned_values.h"
#include "core/policy/apply_step_tags.h"
#include "core/policy/tagging.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/support/child.h"
#include "views/graph/graph_pane.h"
#include "views/inspector/inspector_pane.h"
#include "views/session/text/number_text.h"
#include "views/widgets/byte_box.h"
#include "views/window/scoreboard.h"

namespace jointer {
namespace {

using namespace views;
using test::kPatienceMs;
using test::kStep;

// Core's numbers of a step.
PlanFigures figures_of(const Graph& step, const AnalysisOptions& options) {
  const Analysis analysis = analyze(step, options).value();
  PlanFigures figures =
      partitioned_figures(step, partitioned_values(step, analysis.costs, analysis.flops).value());
  figures.figures = {analysis.memory.peak_bytes(), analysis.simulation.step_ns(),
                     analysis.simulation.exposed_ns()};
  figures.compute_ns = analysis.simulation.compute_ns();
  return figures;
}

}  // namespace

class SacStepTest : public test::SacWindow {
  Q_OBJECT

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }

  void partitioner_controls_are_hidden();
  void click_adds_a_tag_and_previews_it();
  void keys_tag_offload_and_untag();
  void edit_menu_removes_tags();
  void previews_the_result();
  void a_refused_tick_changes_nothing();
  void a_recomputed_group_frees_its_memory();
  void a_budget_is_a_plan_of_tags();
  void uses_the_fastest_plan_that_fits();
  void checkpoints_a_layer();
  void applying_tags_is_one_entry();
  void applies_pending_ticks();
  void applied_tags_are_settled();
  void presets_and_imports_are_tags();
  void peak_shows_its_tensors();
  void rungs_scoreboard_and_inspector_follow();
  void layers_fold();

 private:
  // `draws`: includes a forward call that draws random numbers, which cannot be recomputed.
  bool open_step(bool draws = false) {
    if (!draws) return open(kStep);
    const auto bytes = read_bytes(test::source_path(kStep));
    if (!bytes) return false;
    std::string text(bytes->view());
    // Pointwise, with the same arguments.
    const std::string from = "\"aten.silu.default\"", to = "\"aten.bernoulli.default\"";
    const std::size_t at = text.find(from);
    if (at == std::string::npos) return false;
    text.replace(at, from.size(), to);
    const std::string path = folder_->filePath("step.json").toStdString();
    return write_bytes(path, text) && open_path(path);
  }
  [[nodiscard]] const SacState& state() const { return *session().state(); }
  // The document's graph with its tags applied by core.
  [[nodiscard]] Graph applied() const {
    Graph step = document().graph();
    if (!apply_step_tags(step)) throw std::runtime_error("the tags cannot be applied");
    return step;
  }
  [[nodiscard]] PlanFigures wanted() const {
    return figures_of(applied(), document().analysis().options);
  }
  // A row whose tensor occupies memory that recomputation frees.
  int row_to_recompute() {
    for (const int row : rows_of(PlanAction::save)) {
      const NodeId node = model().nodes(row).front();
      session().set_action({node}, PlanAction::recompute);
      const bool frees =
          settle() && figures().saved_bytes < state().reference()->figures.saved_bytes;
      editing().undo();
      if (settle() && frees) return model().row_of(node);
    }
    return -1;
  }
  void press_apply_tags() {
    test::press(button("apply_tags"));
    QVERIFY(settle());
  }
};

void SacStepTest::partitioner_controls_are_hidden() {
  QVERIFY(open_step());
  QCOMPARE(state().kind, SacKind::step);
  QVERIFY(model().row_count() > 50);
  const QAbstractItemModelTester tester(&model());
  SacBar& bar = test::child<SacBar>(pane());
  QVERIFY(bar.isVisible());
  QVERIFY(button("apply_tags").isVisible());
  QVERIFY(!button("apply_tags").isEnabled());  // there are no tags
  QVERIFY(button("solve").isVisible());
  QVERIFY(!test::child<QComboBox>(bar, "partitioner").isVisible());
  QVERIFY(bar.budget().isVisible());
  QVERIFY(pages().isTabVisible(1));
  QVERIFY(!command("SAC: Open as Pair")->isVisible());
  QVERIFY(command("SAC: Apply Tags")->isVisible());
  QCOMPARE(figures(), figures_of(document().graph(), document().analysis().options));
  QCOMPARE(model().totals().things, state().tensors.size());
}

void SacStepTest::click_adds_a_tag_and_previews_it() {
  QVERIFY(open_step());
  const int row = row_to_recompute();
  QVERIFY(row >= 0);
  const NodeId node = model().nodes(row).front();
  const PlanFigures before = figures();
  const std::size_t calls = document().graph().order().size();
  const int steps = editing().place();
  click_switch(row, PlanAction::recompute);
  QVERIFY(settle());
  QCOMPARE(editing().place(), steps + 1);
  QCOMPARE(action_of(node), PlanAction::recompute);
  QCOMPARE(document().graph().node(node).policy, MemoryPolicy::must_recompute);
  QCOMPARE(document().graph().order().size(), calls);  // tagged, not applied
  QCOMPARE(figures(), wanted());
  QVERIFY(figures().saved_bytes < before.saved_bytes);
  QVERIFY(figures().recomputed > 0);
  const Analysis analysis = analyze(applied(), document().analysis().options).value();
  QVERIFY(std::ranges::equal(state().profile, analysis.memory.profile()));
  QCOMPARE(model().text(model().row_of(node), SacModel::decider_column), QStringLiteral("user"));
  editing().undo();
  QVERIFY(settle());
  QCOMPARE(figures(), before);
  QCOMPARE(action_of(node), PlanAction::save);
  editing().redo();
  QVERIFY(settle());
  QCOMPARE(figures(), wanted());
}

void SacStepTest::keys_tag_offload_and_untag() {
  QVERIFY(open_step());
  const PlanFigures before = figures();
  const int row = row_to_recompute();
  QVERIFY(row >= 0);
  const NodeId node = model().nodes(row).front();
  choose_row(row);
  table().view().setFocus();
  for (const auto& [key, policy] : {std::pair{Qt::Key_O, MemoryPolicy::must_cpu_offload},
                                    std::pair{Qt::Key_S, MemoryPolicy::must_save},
                                    std::pair{Qt::Key_Space, MemoryPolicy::must_recompute},
                                    std::pair{Qt::Key_Delete, MemoryPolicy::none}}) {
    QTest::keyClick(&table().view(), key);
    QVERIFY(settle());
    QCOMPARE(document().graph().node(node).policy, policy);
    QCOMPARE(figures(), wanted());
  }
  QCOMPARE(figures(), before);
  QAction* offload = command("SAC: Offload Selected");
  offload->trigger();
  QVERIFY(settle());
  QCOMPARE(document().graph().node(node).policy, MemoryPolicy::must_cpu_offload);
}

void SacStepTest::edit_menu_removes_tags() {
  QVERIFY(open_step());
  const int row = row_to_recompute();
  QVERIFY(row >= 0);
  const NodeId node = model().nodes(row).front();
  document().selection().select(node);
  const auto policy = [&] { return document().graph().node(node).policy; };
  test::run_action(*window_, "Recompute Selected Nodes");
  QTRY_COMPARE_WITH_TIMEOUT(policy(), MemoryPolicy::must_recompute, kPatienceMs);
  for (const QAction* action : window_->findChildren<QAction*>())
    if (action->isVisible())
      QVERIFY2(!action->text().contains("Partitioner:"), qPrintable(action->text()));
  test::run_action(*window_, "Remove Tags from Selected Nodes");
  QTRY_COMPARE_WITH_TIMEOUT(policy(), MemoryPolicy::none, kPatienceMs);
  QVERIFY(settle());
}

void SacStepTest::previews_the_result() {
  QVERIFY(open_step());
  const int row = row_to_recompute();
  QVERIFY(row >= 0);
  const NodeId node = model().nodes(row).front();
  const int steps = editing().place();
  table().view().scrollTo(model().index_of(row));
  QSignalSpy previewed(&session(), &SacSession::previewed);
  move_pointer(switch_of(row, PlanAction::recompute).center());
  QTRY_VERIFY_WITH_TIMEOUT(session().shown_preview() && session().shown_preview()->outcome,
                           kPatienceMs);
  const PlanFigures promised = session().shown_preview()->outcome->figures;
  QVERIFY(figures_row().what_if().contains("Preview: recompute"));
  QCOMPARE(editing().place(), steps);  // hovering changes nothing
  click_switch(row, PlanAction::recompute);
  QVERIFY(settle());
  QCOMPARE(figures(), promised);
  QCOMPARE(action_of(node), PlanAction::recompute);
}

void SacStepTest::a_refused_tick_changes_nothing() {
  QVERIFY(open_step(/*draws=*/true));
  NodeId random;
  for (const SacTensor& tensor : state().tensors)
    if (document().graph().target(document().graph().node(tensor.node)) == "aten.bernoulli.default")
      random = tensor.node;
  QVERIFY(bool(random));
  const SacStatePtr before = session().state();
  const std::string text = write_native(document().graph());
  QSignalSpy messages(&pane(), &SacPane::refused);
  group_by(SacGrouping::tensor);
  click_switch(model().row_of(random), PlanAction::recompute);
  QVERIFY(settle());
  QCOMPARE(messages.count(), 1);
  QVERIFY(messages.front().front().toString().contains("draws random numbers"));
  QCOMPARE(session().state(), before);
  QCOMPARE(editing().entry_count(), 0);
  QVERIFY(write_native(document().graph()) == text);
  // The preview shows the same numbers.
  move_pointer(switch_of(model().row_of(random), PlanAction::recompute).center());
  QTRY_VERIFY_WITH_TIMEOUT(figures_row().what_if().contains("draws random numbers"), kPatienceMs);
}

// The values that they are computed from are recomputed with them.
void SacStepTest::a_recomputed_group_frees_its_memory() {
  QVERIFY(open_step());
  const PlanFigures before = figures();
  group_by(SacGrouping::tensor);
  std::vector<NodeId> all;
  for (const SacTensor& tensor : state().tensors) all.push_back(tensor.node);
  session().set_action(all, PlanAction::recompute);
  QVERIFY(settle());
  QCOMPARE(figures(), wanted());
  QVERIFY2(figures().saved_bytes < before.saved_bytes / 3,
           qPrintable(QString::number(figures().saved_bytes)));
  QCOMPARE(editing().entry_count(), 1);
  // The input of the second layer is recomputed with the first.
  pane().setMinimumHeight(600);  // a low pane shows the numbers instead
  const auto advice = [this] { return test::child<QLabel>(figures_row(), "what_if").toolTip(); };
  QTRY_VERIFY2(advice().contains("Checkpoint Layer"), qPrintable(advice()));
  editing().undo();
  QVERIFY(settle());
  QTRY_VERIFY2(!advice().contains("Checkpoint Layer"), qPrintable(advice()));
}

void SacStepTest::a_budget_is_a_plan_of_tags() {
  QVERIFY(open_step());
  const PlanFigures before = figures();
  SacBar& bar = test::child<SacBar>(pane());
  bar.budget().box().setFocus();
  bar.budget().box().selectAll();
  QTest::keyClicks(&bar.budget().box(), "0.5");
  QTRY_VERIFY_WITH_TIMEOUT(
      session().is_settled() && session().shown_preview() && session().shown_preview()->outcome,
      kPatienceMs);
  const PlanFigures promised = session().shown_preview()->outcome->figures;
  QCOMPARE(editing().entry_count(), 0);
  QTest::keyClick(&bar.budget().box(), Qt::Key_Return);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(figures(), promised);
  QCOMPARE(figures(), wanted());
  QVERIFY(figures().saved_bytes < before.saved_bytes);
  // The tags of this plan do not bind the next one.
  bar.budget().box().selectAll();
  QTest::keyClicks(&bar.budget().box(), "1");
  QTest::keyClick(&bar.budget().box(), Qt::Key_Return);
  QVERIFY(settle());
  QCOMPARE(figures().figures.peak_bytes, before.figures.peak_bytes);
  QCOMPARE(figures().saved_bytes, before.saved_bytes);
}

void SacStepTest::uses_the_fastest_plan_that_fits() {
  QVERIFY(open_step());
  pane().show_pareto();
  const std::int64_t limit = figures().figures.peak_bytes / 20 * 19;
  auto& box = test::child<ByteBox>(pareto(), "limit");
  box.setFocus();
  box.selectAll();
  QTest::keyClicks(&box, QString::number(limit) + " B");
  QTest::keyClick(&box, Qt::Key_Tab);
  test::press(button("fastest"));
  QTRY_VERIFY_WITH_TIMEOUT(!pareto().search().is_running(), kPatienceMs);
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QVERIFY(figures().figures.peak_bytes <= limit);
  QCOMPARE(figures(), wanted());
}

void SacStepTest::checkpoints_a_layer() {
  QVERIFY(open_step());
  const PlanFigures before = figures();
  const Layers layers(document().graph(), document().analysis().modules);
  NodeId in_layer;
  for (const SacTensor& tensor : state().tensors)
    if (layers.of(tensor.node) == 1 &&
        document().graph().target(document().graph().node(tensor.node)) == "aten.silu.default")
      in_layer = tensor.node;
  QVERIFY(bool(in_layer));
  group_by(SacGrouping::tensor);
  choose_row(model().row_of(in_layer));
  command("SAC: Checkpoint Layers of Selected")->trigger();
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(figures(), wanted());
  QVERIFY(figures().saved_bytes < before.saved_bytes);
  QCOMPARE(action_of(in_layer), PlanAction::recompute);
}

void SacStepTest::applying_tags_is_one_entry() {
  QVERIFY(open_step());
  const int row = row_to_recompute();
  QVERIFY(row >= 0);
  click_switch(row, PlanAction::recompute);
  QVERIFY(settle());
  const NodeId other = model().nodes(rows_of(PlanAction::save).back()).front();
  session().set_action({other}, PlanAction::offload);
  QVERIFY(settle());
  const std::string tagged = write_native(document().graph());
  const PlanFigures promised = figures();
  const Graph step = applied();
  const int steps = editing().place();
  QVERIFY(button("apply_tags").isEnabled());
  press_apply_tags();
  QCOMPARE(editing().place(), steps + 1);
  QVERIFY(validate(document().graph()));
  QVERIFY(write_native(document().graph()) == write_native(step));
  QCOMPARE(figures(), promised);
  QCOMPARE(document().analysis().memory.peak_bytes(), promised.figures.peak_bytes);
  QCOMPARE(document().analysis().simulation.step_ns(), promised.figures.step_ns);
  // Tags cannot be applied twice.
  QVERIFY(!state().applied_tags.any);
  QVERIFY(!button("apply_tags").isEnabled());
  QSignalSpy messages(&pane(), &SacPane::refused);
  command("SAC: Apply Tags")->trigger();
  QVERIFY(settle());
  QCOMPARE(messages.count(), 1);
  QCOMPARE(editing().place(), steps + 1);
  editing().undo();
  QVERIFY(settle());
  QVERIFY(write_native(document().graph()) == tagged);
  QCOMPARE(figures(), promised);
  QVERIFY(button("apply_tags").isEnabled());
  editing().redo();
  QVERIFY(settle());
  QVERIFY(write_native(document().graph()) == write_native(step));
  QCOMPARE(figures(), promised);
}

void SacStepTest::applies_pending_ticks() {
  QVERIFY(open_step());
  const int row = row_to_recompute();
  QVERIFY(row >= 0);
  const NodeId node = model().nodes(row).front();
  const int steps = editing().place();
  session().set_action({node}, PlanAction::recompute);
  session().apply_tags();
  QVERIFY(!session().is_settled());
  QVERIFY(settle());
  QCOMPARE(editing().place(), steps + 2);
  QVERIFY(!state().applied_tags.any);
  QVERIFY(figures().recomputed > 0);
}

void SacStepTest::applied_tags_are_settled() {
  QVERIFY(open_step());
  const int row = row_to_recompute();
  QVERIFY(row >= 0);
  click_switch(row, PlanAction::recompute);
  QVERIFY(settle());
  press_apply_tags();
  const auto settled = std::ranges::find_if(
      state().tensors, [](const SacTensor& tensor) { return tensor.is_settled(); });
  QVERIFY(settled != state().tensors.end());
  const NodeId node = settled->node;
  group_by(SacGrouping::tensor);
  QVERIFY(model().text(model().row_of(node), SacModel::why_column).contains("was applied earlier"));
  const int steps = editing().place();
  click_switch(model().row_of(node), PlanAction::save);
  QVERIFY(settle());
  QCOMPARE(editing().place(), steps);
  choose_row(model().row_of(node));
  table().view().setFocus();
  QSignalSpy messages(&pane(), &SacPane::refused);
  QTest::keyClick(&table().view(), Qt::Key_S);
  QVERIFY(settle());
  QCOMPARE(messages.count(), 1);
  QVERIFY(messages.front().front().toString().contains("already been applied"));
  QCOMPARE(editing().place(), steps);
}

void SacStepTest::presets_and_imports_are_tags() {
  QVERIFY(open_step());
  const PlanFigures before = figures();
  bar().apply_preset(QStringLiteral("full"));
  QVERIFY(settle());
  QCOMPARE(editing().entry_count(), 1);
  QCOMPARE(figures(), wanted());
  QVERIFY(figures().saved_bytes < before.saved_bytes);
  QVERIFY(std::ranges::any_of(state().tensors, [](const SacTensor& tensor) {
    return tensor.decider == Decider::preset && tensor.action == PlanAction::recompute;
  }));
  const PlanFigures full = figures();
  for (QAction* action : bar().exchange().actions())
    if (action->text() == "Open as Pair") QVERIFY(!action->isVisible());
  // Export as a recipe and import it again.
  QSignalSpy messages(&pane(), &SacPane::message);
  for (QAction* action : bar().exchange().actions())
    if (action->text().contains("Copy Tag Recipe")) action->trigger();
  QVERIFY(messages.count() > 0 || messages.wait(kPatienceMs));
  QVERIFY(QApplication::clipboard()->text().contains("MUST_RECOMPUTE"));
  editing().undo();
  QVERIFY(settle());
  QCOMPARE(figures(), before);
  for (QAction* action : bar().exchange().actions())
    if (action->text() == "Import from Clipboard") action->trigger();
  QTRY_VERIFY_WITH_TIMEOUT(editing().place() == 1 && session().is_settled(), kPatienceMs);
  QCOMPARE(figures().saved_bytes, full.saved_bytes);
  QCOMPARE(figures().figures.peak_bytes, full.figures.peak_bytes);
}

void SacStepTest::peak_shows_its_tensors() {
  QVERIFY(open_step());
  window_->resize(1600, 1400);
  pane().setMinimumHeight(600);  // in a lower pane, the curve is only in the timeline
  auto& curve = test::child<PlanCurve>(pane());
  QTRY_VERIFY(curve.isVisible());
  QTest::mouseClick(&curve, Qt::LeftButton, {}, curve.peak_place());
  QVERIFY(model().shows_only_some());
  const auto rows = model().shown(-1);
  QCOMPARE(rows.size(), state().applied_tags.saved_at_peak.size());
  QVERIFY(!rows.empty());
  for (const int row : rows) QVERIFY(model().actions(row).one() == PlanAction::save);
  QTest::mouseClick(table().findChild<QToolButton*>("show_all"), Qt::LeftButton);
  QVERIFY(!model().shows_only_some());
}

void SacStepTest::rungs_scoreboard_and_inspector_follow() {
  QVERIFY(open_step());
  window_->dock("graph")->raise();
  QTRY_VERIFY_WITH_TIMEOUT(window_->dock("graph")->pane() != nullptr, kPatienceMs);
  auto* graph = qobject_cast<GraphPane*>(window_->dock("graph")->pane());
  const auto saved = [&] {
    std::int64_t bytes = 0;
    for (const LadderRow& row : graph->view().model().ladder().rows())
      if (row.parent < 0) bytes += row.saved[static_cast<std::size_t>(RungState::save)];
    return bytes;
  };
  window_->dock("sac")->raise();
  const std::int64_t before = saved();
  QVERIFY(before > 0);
  QCOMPARE(before, figures().saved_bytes);
  const int row = row_to_recompute();
  QVERIFY(row >= 0);
  const NodeId node = model().nodes(row).front();
  click_switch(row, PlanAction::recompute);
  QVERIFY(settle());
  QVERIFY(saved() < before);
  QCOMPARE(saved(), figures().saved_bytes);
  QVERIFY(labels_of(*window_->findChild<Scoreboard*>())
              .contains(QStringLiteral("%1 · %2").arg(bytes_text(figures().figures.peak_bytes),
                                                      time_text(figures().figures.step_ns))));
  QTRY_VERIFY_WITH_TIMEOUT(window_->dock("inspector")->pane() != nullptr, kPatienceMs);
  const auto& inspector = *qobject_cast<InspectorPane*>(window_->dock("inspector")->pane());
  document().selection().select(node);
  QTRY_VERIFY(
      std::ranges::any_of(inspector.content().sections, [](const InspectorSection& section) {
        return section.title == "In the backward" &&
               section.rows.front().value == "recompute, decided by you" &&
               std::ranges::any_of(section.rows, [](const InspectorRow& each) {
                 return each.value.startsWith("Recomputed by hand");
               });
      }));
  model().set_filter("policy:recompute by:user");
  QVERIFY(std::ranges::any_of(model().shown(-1),
                              [&](int shown) { return model().nodes(shown).front() == node; }));
}

void SacStepTest::layers_fold() {
  QVERIFY(open_step());
  group_by(SacGrouping::layer);
  int fold = -1;
  for (const int row : model().shown(-1))
    if (model().text(row, SacModel::name_column).contains(u'×')) fold = row;
  QVERIFY(fold >= 0);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::SacStepTest, "sac_step")
#include "sac_step_test.moc"
