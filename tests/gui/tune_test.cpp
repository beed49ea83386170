// Tests a search in the real window: it starts, points arrive, it stops, and its result is applied
// and undone.

#include <QClipboard>
#include <QMessageBox>

#include "app/desktop/main_window.h"
#include "core/base/bytes.h"
#include "core/edit/recipe.h"
#include "core/edit/replay.h"
#include "core/graph/canonical.h"
#include "core/pass/pipeline_file.h"
#include "passes/tune/tuner.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/gui/sac_window.h"
#include "tests/support/child.h"
#include "views/session/edit/editing.h"
#include "views/session/text/number_text.h"
#include "views/tune/tune_pane.h"

namespace jointer {

using namespace views;
using test::kPatienceMs;

class TuneTest : public test::SacWindow {
  Q_OBJECT

  [[nodiscard]] TunePane& pane() const {
    return *qobject_cast<TunePane*>(window_->dock("tune")->pane());
  }
  [[nodiscard]] QPushButton& button(const char* name) const {
    return test::child<QPushButton>(pane(), name);
  }
  [[nodiscard]] static std::string hash_of(const Document& document) {
    return graph_hash(document.graph());
  }
  bool open_tune(const char* file) { return open_file(test::source_path(file)) && show_tune(); }
  bool show_tune() {
    for (QAction* action : window_->findChildren<QAction*>())
      if (action->text() == QStringLiteral("&Tune...")) action->trigger();  // Passes > Tune...
    return QTest::qWaitFor([this] { return window_->dock("tune")->pane() != nullptr; },
                           kPatienceMs);
  }
  // Runs a search of that many candidates to its end.
  bool search(int evaluations) {
    test::child<QSpinBox>(pane(), "evaluations").setValue(evaluations);
    test::child<QSpinBox>(pane(), "seconds").setValue(0);
    test::press(button("start"));
    if (!pane().session().is_running()) return false;
    return QTest::qWaitFor([this] { return !pane().session().is_running(); }, kPatienceMs * 5);
  }

 private slots:
  void init() { make_window(); }
  void cleanup() { close_window(); }
  void an_unused_pane_says_how_to_start();
  void best_is_applied_step_by_step_and_undone();
  void clicking_points_applies_them();
  void stopping_keeps_the_result_so_far();
  void joint_graph_opens_as_a_pair();
  void the_best_pipeline_is_saved_for_training();
  void flags_go_to_training_if_they_express_every_step_data() { add_sizes(); }
  void flags_go_to_training_if_they_express_every_step();
  void twin_groups_may_be_excluded();
  void settings_are_fixed_during_a_search();
  void search_belongs_to_the_shown_graph();
  void a_limit_of_the_sac_pane_is_tuned();
  void plans_of_the_sac_pane_are_shown();
  void tuned_point_has_reserved_memory();
};

void TuneTest::an_unused_pane_says_how_to_start() {
  QVERIFY(open_tune(test::kPair));
  const auto& hint = test::child<QLabel>(pane(), "hint");
  const auto& steps = test::child<QTreeWidget>(pane());
  QVERIFY(hint.isVisible() && hint.text().contains(QStringLiteral("press Start")));
  QVERIFY(!steps.isVisible());
  QVERIFY(search(10));
  QVERIFY(!hint.isVisible());
}

void TuneTest::best_is_applied_step_by_step_and_undone() {
  QVERIFY(open_tune(test::kPair));
  const std::string before = hash_of(document());
  const std::int64_t peak = document().analysis().memory.peak_bytes();
  const std::int64_t step = document().analysis().simulation.step_ns();
  QVERIFY(!button("apply").isEnabled());
  QVERIFY(search(40));
  const TuneResult* result = pane().session().result();
  QVERIFY(result != nullptr && result->winner);
  QCOMPARE(result->evaluated, 40U);
  const auto& list = test::child<QTreeWidget>(pane());
  QVERIFY(list.isVisible());
  QCOMPARE(list.topLevelItemCount(), static_cast<int>(result->steps.size()));
  QVERIFY(list.topLevelItem(0)->text(1).contains(u'+'));
  QVERIFY(list.topLevelItem(0)->toolTip(1).startsWith(QStringLiteral("Without it")));
  QVERIFY(test::child<QLabel>(pane(), "status").text().contains(QStringLiteral("40 candidates")));
  test::press(button("copy"));
  QCOMPARE(QGuiApplication::clipboard()->text().toStdString(), to_text(result->winner->pipeline));

  const Figures expected = result->winner->figures.figures;
  const int steps = static_cast<int>(result->steps.size());
  const auto& effect = test::child<QLabel>(pane(), "effect");
  QVERIFY2(effect.text().startsWith("“Apply Best” runs "), qPrintable(effect.text()));
  QVERIFY(effect.text().contains(time_text(step) + " → " + time_text(expected.step_ns)));
  QSignalSpy taken(&editing(), &Editing::applied_all);
  test::press(button("apply"));
  QVERIFY(!button("apply").isEnabled());
  QVERIFY(!test::child<QLabel>(pane(), "status").text().contains(QStringLiteral("has changed")));
  QVERIFY(taken.wait(kPatienceMs));
  QVERIFY(editing().entry_count() >= 1 && editing().entry_count() <= steps);
  QCOMPARE(document().analysis().simulation.step_ns(), expected.step_ns);
  QCOMPARE(document().analysis().memory.peak_bytes(), expected.peak_bytes);
  QVERIFY(expected.step_ns < step && expected.peak_bytes <= peak);
  QTRY_VERIFY2(effect.text().startsWith("The best pipeline is applied: "),
               qPrintable(effect.text()));
  QVERIFY(!button("apply").isEnabled());
  for (int i = editing().entry_count(); i > 0; --i) editing().undo();
  QTRY_VERIFY_WITH_TIMEOUT(editing().is_settled(), kPatienceMs);
  QCOMPARE(hash_of(document()), before);
  QTRY_VERIFY2(effect.text().startsWith("“Apply Best” runs "), qPrintable(effect.text()));
  QVERIFY(button("apply").isEnabled());
}

void TuneTest::twin_groups_may_be_excluded() {
  QVERIFY(open_tune(test::kPair));
  auto& twins = test::child<QCheckBox>(pane(), "twin_groups");
  QVERIFY(twins.isChecked());
  twins.click();
  QVERIFY(search(60));
  for (const TunePoint& point : pane().session().result()->frontier)
    for (const PipelineStep& step : point.pipeline) QVERIFY(step.pass != "reassign_to_pg");
}

void TuneTest::settings_are_fixed_during_a_search() {
  QVERIFY(open_tune(test::kPair));
  auto& evaluations = test::child<QSpinBox>(pane(), "evaluations");
  const auto& twins = test::child<QCheckBox>(pane(), "twin_groups");
  evaluations.setValue(100'000);
  QVERIFY(evaluations.isEnabled() && twins.isEnabled());
  test::press(button("start"));
  QVERIFY(pane().session().is_running());
  QVERIFY(!evaluations.isEnabled());
  QVERIFY(!twins.isEnabled());
  test::press(button("start"));
  QTRY_VERIFY_WITH_TIMEOUT(!pane().session().is_running(), kPatienceMs);
  QVERIFY(evaluations.isEnabled() && twins.isEnabled());
}

void TuneTest::clicking_points_applies_them() {
  QVERIFY(open_tune(test::kPair));
  QVERIFY(search(30));
  ParetoPlot& plot = test::child<ParetoPlot>(pane());
  QSignalSpy taken(&editing(), &Editing::applied_all);
  for (const bool first : {true, false}) {
    // A preset, then the point with the shortest step.
    std::size_t mark = 0;
    while (plot.marks()[mark].kind != (first ? ParetoKind::pipeline_preset : ParetoKind::tuned))
      ++mark;
    const ParetoMark chosen = plot.marks()[mark];
    QTest::mouseClick(&plot, Qt::LeftButton, {}, plot.place_of(mark));
    QVERIFY(taken.wait(kPatienceMs));
    QTRY_VERIFY_WITH_TIMEOUT(editing().is_settled(), kPatienceMs);
    // Another point at the same position may be on top.
    QCOMPARE(document().analysis().simulation.step_ns(), chosen.step_ns);
  }
  QVERIFY(pane().session().can_apply());
}

void TuneTest::stopping_keeps_the_result_so_far() {
  QVERIFY(open_tune(test::kPair));
  test::child<QSpinBox>(pane(), "evaluations").setValue(1'000'000);
  test::child<QSpinBox>(pane(), "seconds").setValue(0);
  test::press(button("start"));
  QCOMPARE(button("start").text(), QStringLiteral("Stop"));
  const int width = button("start").minimumWidth();
  QVERIFY2(button("start").sizeHint().width() <= width, "the button keeps its width");
  QTRY_VERIFY_WITH_TIMEOUT(test::child<ParetoPlot>(pane()).marks().size() > 3, kPatienceMs);
  test::press(button("start"));
  QVERIFY(!pane().session().is_running());
  QCOMPARE(button("start").text(), QStringLiteral("Start"));
  QVERIFY(button("start").sizeHint().width() <= width);
  QVERIFY(pane().session().result()->winner);
  QVERIFY(button("apply").isEnabled());
}

void TuneTest::joint_graph_opens_as_a_pair() {
  QVERIFY(open_tune(test::kSample));
  QVERIFY(search(20));
  QVERIFY(pane().session().makes_a_pair());
  const Figures expected = pane().session().result()->winner->figures.figures;
  QSignalSpy opened(window_.get(), &desktop::MainWindow::opened);
  test::press(button("apply"));
  QVERIFY(opened.wait(kPatienceMs));
  const Document& pair = *window_->current_tab()->document();
  QVERIFY(pair.graph().is_pair());
  // The steps after the partitioner are its edits.
  QTRY_COMPARE_WITH_TIMEOUT(pair.analysis().simulation.step_ns(), expected.step_ns, kPatienceMs);
  QCOMPARE(pair.analysis().memory.peak_bytes(), expected.peak_bytes);
  QVERIFY(pair.editing().entry_count() > 0);
}

void TuneTest::the_best_pipeline_is_saved_for_training() {
  QVERIFY(open_tune(test::kPair));
  QVERIFY(search(20));
  QCOMPARE(button("save").text(), QStringLiteral("Save Recipe..."));
  const auto& training = test::child<QLabel>(pane(), "training");
  QVERIFY2(training.text().startsWith("A recipe applies exactly these edits"),
           qPrintable(training.text()));
  const Figures expected = pane().session().result()->winner->figures.figures;
  const auto save = [this](const QString& path, const QString& sentence) {
    QSignalSpy said(&pane().session(), &TuneSession::message);
    test::answer_file_dialog(path);
    test::press(button("save"));
    return QTest::qWaitFor(
        [&] { return !said.isEmpty() && said.back().front().toString().contains(sentence); },
        kPatienceMs);
  };
  const QString recipe_path = folder_->filePath("best.recipe.json");
  QVERIFY(save(recipe_path, QStringLiteral("Wrote a recipe")));
  QCOMPARE(editing().entry_count(), 0);  // saving applies nothing
  const auto bytes = read_bytes(recipe_path.toStdString());
  QVERIFY(bytes);
  const auto recipe = read_recipe(bytes->view());
  QVERIFY(recipe);
  Graph graph = document().graph();
  const auto replayed = replay(graph, *recipe, false);
  QVERIFY(replayed && replayed->skipped.empty());
  const auto after = make_snapshot(std::move(graph), document().analysis().options);
  QVERIFY(after);
  QCOMPARE((*after)->analysis.simulation.step_ns(), expected.step_ns);
  QCOMPARE((*after)->analysis.memory.peak_bytes(), expected.peak_bytes);

  // A recipe cannot partition a joint graph.
  QVERIFY(open_tune(test::kSample));
  QVERIFY(search(20));
  QCOMPARE(button("save").text(), QStringLiteral("Save Pipeline..."));
  // The reason is shown, and each step has its setting or the reason that there is none.
  const QString& why = test::child<QLabel>(pane(), "training").text();
  QVERIFY2(why.startsWith("A recipe cannot partition a joint graph. Settings cannot express "),
           qPrintable(why));
  QVERIFY(button("save").toolTip().contains(why));
  const TrainingFlags flags = pane().session().flags();
  const auto& list = test::child<QTreeWidget>(pane());
  QCOMPARE(list.topLevelItemCount(), static_cast<int>(flags.steps.size()));
  int without = 0;
  for (int i = 0; i < list.topLevelItemCount(); ++i) {
    const StepFlags& step = flags.steps[static_cast<std::size_t>(i)];
    QCOMPARE(list.topLevelItem(i)->text(2) == "none", !step.reason.empty());
    if (step.reason.empty()) continue;
    ++without;
    QCOMPARE(list.topLevelItem(i)->toolTip(2).toStdString(), step.reason);
  }
  QVERIFY(without > 0);
  test::press(button("copy_flags"));
  QCOMPARE(QGuiApplication::clipboard()->text().toStdString(), flags.text());
  QVERIFY(QGuiApplication::clipboard()->text().contains("# Without a setting\n# "));
  const QString pipeline_path = folder_->filePath("best.jointer-passes");
  QVERIFY(save(pipeline_path, QStringLiteral("Wrote the pipeline")));
  const auto text = read_bytes(pipeline_path.toStdString());
  QVERIFY(text);
  const auto read = read_pipeline_file(text->view(), "best.jointer-passes");
  QVERIFY(read);
  QCOMPARE(to_text(read->steps), to_text(pane().session().result()->winner->pipeline));

  // A failure stays on screen until its dialog is closed.
  pane().session().write_winner(folder_->filePath("missing/best.jointer-passes"));
  const QMessageBox* box = nullptr;
  QTRY_VERIFY_WITH_TIMEOUT((box = pane().findChild<QMessageBox*>()) != nullptr && box->isVisible(),
                           kPatienceMs);
  QVERIFY2(box->text().contains("missing"), qPrintable(box->text()));
  delete box;
}

// The peak of the flat training step exceeds the limit, so a search finds a policy, for which
// graph_trainer has flags.
void TuneTest::flags_go_to_training_if_they_express_every_step() {
  resize();
  QVERIFY(open_tune(test::kStep));
  pane().session().set_limit(70 * test::kMib);
  QVERIFY(document().analysis().memory.peak_bytes() > pane().session().limit());
  QVERIFY(search(20));
  const TuneResult* result = pane().session().result();
  QVERIFY(result->winner);
  QCOMPARE(to_text(result->winner->pipeline),
           std::string("tag_with_memory_policy,selective_activation_remat"));
  QPushButton& save = button("save");
  QCOMPARE(save.text(), QStringLiteral("Save Flags..."));
  QVERIFY(save.isEnabled());
  QTRY_VERIFY2(pane().rect().contains(QRect(save.mapTo(&pane(), QPoint()), save.size())),
               "the button is on screen");
  QVERIFY(save.width() >= save.sizeHint().width());
  const QString& why = test::child<QLabel>(pane(), "training").text();
  QVERIFY2(why.startsWith("Settings of torch and torchtitan express every step"), qPrintable(why));
  const std::string text = pane().session().flags().text();
  QVERIFY2(QString::fromStdString(text).contains(
               "\n--compile.disable_passes joint_transformer_block_bucketing_reordering_pass\n"),
           text.c_str());
  QSignalSpy said(&pane().session(), &TuneSession::message);
  const QString path = folder_->filePath("best.flags.txt");
  test::answer_file_dialog(path);
  test::press(save);
  QTRY_VERIFY_WITH_TIMEOUT(
      !said.isEmpty() && said.back().front().toString() == "Wrote the flags to " + path + ".",
      kPatienceMs);
  const auto bytes = read_bytes(path.toStdString());
  QVERIFY(bytes);
  QCOMPARE(std::string(bytes->view()), text);
  QCOMPARE(editing().entry_count(), 0);
  test::press(button("copy_flags"));
  QCOMPARE(QGuiApplication::clipboard()->text().toStdString(), text);
}

// An edit by hand after a search makes a different graph; the searched graph stays in the history.
void TuneTest::search_belongs_to_the_shown_graph() {
  QVERIFY(open_tune(test::kPair));
  QVERIFY(search(12));
  const std::vector<Edit> nothing{Edit{.title = "By hand"}};
  QSignalSpy applied(&editing(), &Editing::applied_all);
  editing().apply_all(nothing);
  QVERIFY(applied.wait(kPatienceMs));
  QVERIFY2(pane().session().can_apply(), "the place that was searched is one step back");
  test::press(button("apply"));
  QVERIFY(applied.wait(kPatienceMs));
  QTRY_VERIFY_WITH_TIMEOUT(editing().is_settled(), kPatienceMs);
  for (const Edit& edit : editing().edits()) QVERIFY(edit.title != "By hand");
  // It is not lost: undo leads back to it.
  QCOMPARE(editing().entry(0).title, "By hand");
  const int applied_steps = editing().entry_count() - 1;
  for (int i = 0; i < applied_steps; ++i) editing().undo();
  QTRY_VERIFY_WITH_TIMEOUT(editing().is_settled(), kPatienceMs);
  QCOMPARE(editing().edits().size(), 1U);
  QCOMPARE(editing().edits().front().title, std::string("By hand"));
  for (int i = 0; i < applied_steps; ++i) editing().redo();
  QTRY_VERIFY_WITH_TIMEOUT(editing().is_settled(), kPatienceMs);
  // A new search uses the current graph.
  QVERIFY(search(13));
  QCOMPARE(pane().session().result()->evaluated, 13U);
  QCOMPARE(pane().session().result()->unedited.figures.figures.step_ns,
           document().analysis().simulation.step_ns());
}

// The SAC pane passes its limit on and shows the result with its plans.
void TuneTest::a_limit_of_the_sac_pane_is_tuned() {
  JOINTER_SLOW_FUNCTION();
  QVERIFY(open(test::kSample));
  SacWindow::pane().show_pareto();
  const std::int64_t limit = figures().figures.peak_bytes / 100 * 95;
  auto& box = test::child<ByteBox>(pareto(), "limit");
  box.setFocus();
  box.selectAll();
  QTest::keyClicks(&box, QString::number(limit) + " B");
  QTest::keyClick(&box, Qt::Key_Tab);
  QVERIFY(pareto().plot().marks().empty());
  test::press(test::child<QPushButton>(pareto(), "tune"));
  QTRY_VERIFY_WITH_TIMEOUT(window_->dock("tune")->pane() != nullptr, kPatienceMs);
  QTRY_VERIFY(pane().isVisible());
  QCOMPARE(test::child<ByteBox>(pane(), "budget").bytes(), limit);
  QVERIFY(search(60));
  const TuneResult* result = pane().session().result();
  QVERIFY(result->winner);
  const Figures best = result->winner->figures.figures;
  QVERIFY(best.peak_bytes <= limit);
  window_->dock("sac")->raise();
  const auto& marks = pareto().plot().marks();
  const auto tuned = std::ranges::find(marks, ParetoKind::tuned, &ParetoMark::kind);
  QVERIFY(tuned != marks.end());
  QCOMPARE(tuned->peak_bytes, best.peak_bytes);
  QCOMPARE(tuned->step_ns, best.step_ns);
  // On the same axes as the curve, and not above it.
  QVERIFY(search_trade_off());
  const auto at = std::ranges::find(marks, ParetoKind::tuned, &ParetoMark::kind);
  QVERIFY(at != marks.end());
  std::int64_t planned = std::numeric_limits<std::int64_t>::max();
  for (const ParetoMark& mark : marks)
    if (mark.kind == ParetoKind::curve && mark.peak_bytes <= limit)
      planned = std::min(planned, mark.step_ns);
  QVERIFY(at->step_ns <= planned);
  // A click applies it.
  QSignalSpy opened(window_.get(), &desktop::MainWindow::opened);
  QTest::mouseClick(&pareto().plot(), Qt::LeftButton, {},
                    pareto().plot().place_of(static_cast<std::size_t>(at - marks.begin())));
  QVERIFY(opened.wait(kPatienceMs));
  QVERIFY(document().graph().is_pair());
  // Then the steps after the partitioner are applied.
  QTRY_COMPARE_WITH_TIMEOUT(document().analysis().simulation.step_ns(), best.step_ns, kPatienceMs);
  QCOMPARE(document().analysis().memory.peak_bytes(), best.peak_bytes);
}

// Shown next to the pipelines, for comparison.
void TuneTest::plans_of_the_sac_pane_are_shown() {
  QVERIFY(open(test::kSample));
  QVERIFY(search_trade_off());
  QVERIFY(show_tune());
  const auto plans_of = [](const ParetoPlot& plot) {
    std::vector<std::tuple<ParetoKind, QString, std::int64_t, std::int64_t>> plans;
    for (const ParetoMark& mark : plot.marks())
      if (mark.kind != ParetoKind::now && !is_pipeline(mark.kind))
        plans.emplace_back(mark.kind, mark.name, mark.peak_bytes, mark.step_ns);
    return plans;
  };
  ParetoPlot& plot = test::child<ParetoPlot>(pane());
  QCOMPARE(plans_of(plot), plans_of(pareto().plot()));
  QVERIFY(!plans_of(plot).empty());
  QVERIFY(search(20));
  QCOMPARE(plans_of(plot), plans_of(pareto().plot()));
  const std::vector<ParetoKind> legend = plot.legend();
  for (const ParetoKind kind : {ParetoKind::curve, ParetoKind::budget, ParetoKind::preset,
                                ParetoKind::pipeline, ParetoKind::pipeline_preset})
    QVERIFY(std::ranges::count(legend, kind) == 1);
  // A plan leads to the SAC pane, where Enter uses it.
  const auto at = std::ranges::find(plot.marks(), ParetoKind::curve, &ParetoMark::kind);
  const ParetoMark wanted = *at;
  const auto index = static_cast<std::size_t>(at - plot.marks().begin());
  QCOMPARE(plot.lines_of(index).last(), QStringLiteral("Click to show this plan in the SAC pane."));
  QTest::mouseClick(&plot, Qt::LeftButton, {}, plot.place_of(index));
  QTRY_VERIFY(pareto().plot().isVisible());
  QVERIFY(pareto().plot().current());
  const ParetoMark shown = pareto().plot().marks()[*pareto().plot().current()];
  QCOMPARE(shown.peak_bytes, wanted.peak_bytes);
  QCOMPARE(shown.step_ns, wanted.step_ns);
  QCOMPARE(editing().entry_count(), 0);
  QTest::keyClick(&pareto().plot(), Qt::Key_Return);
  QTRY_VERIFY_WITH_TIMEOUT(session().state()->order == wanted.order.toStdString(), kPatienceMs);
  QVERIFY(settle_order());
  QCOMPARE(ordered_figures().peak_bytes, wanted.peak_bytes);
  QCOMPARE(ordered_figures().step_ns, wanted.step_ns);
}

// It arrives after the search.
void TuneTest::tuned_point_has_reserved_memory() {
  JOINTER_SLOW_FUNCTION();
  QVERIFY(open(test::kLarge));
  SacWindow::pane().show_pareto();
  auto& memory = test::child<QComboBox>(pareto(), "memory");
  memory.setCurrentIndex(memory.findText(QStringLiteral("Reserved limit")));
  QVERIFY(show_tune());
  QVERIFY(search(6));
  QVERIFY(pane().session().result()->winner);
  window_->dock("sac")->raise();
  const auto& marks = pareto().plot().marks();
  const auto& status = test::child<QLabel>(pareto(), "status");
  const auto find = [&] { return std::ranges::find(marks, ParetoKind::tuned, &ParetoMark::kind); };
  QVERIFY(find() == marks.end());
  QVERIFY2(status.text().contains("tuned pipeline"), qPrintable(status.text()));
  QTRY_VERIFY_WITH_TIMEOUT(find() != marks.end(), kPatienceMs);
  QVERIFY(status.text().isEmpty());
  const ParetoMark tuned = *find();
  QSignalSpy opened(window_.get(), &desktop::MainWindow::opened);
  QTest::mouseClick(&pareto().plot(), Qt::LeftButton, {},
                    pareto().plot().place_of(static_cast<std::size_t>(find() - marks.begin())));
  QVERIFY(opened.wait(kPatienceMs));
  QTRY_COMPARE_WITH_TIMEOUT(std::optional(document().analysis().reserved.peak_bytes),
                            tuned.reserved_bytes, kPatienceMs);
  QCOMPARE(document().analysis().memory.peak_bytes(), tuned.peak_bytes);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::TuneTest, "tune")
#include "tune_test.moc"
