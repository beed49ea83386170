// Tests the pipeline pane by itself, with mouse and keyboard and fake passes.

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QDialog>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QMouseEvent>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTextBrowser>
#include <QUrl>
#include <algorithm>
#include <memory>
#include <stdexcept>

#include "core/base/bytes.h"
#include "core/graph/canonical.h"
#include "core/pass/pipeline_file.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/fake_passes.h"
#include "tests/support/paths.h"
#include "tests/support/snapshots.h"
#include "views/pipeline/code_questions.h"
#include "views/pipeline/pipeline_pane.h"
#include "views/pipeline/step_delegate.h"
#include "views/session/edit/editing.h"
#include "views/session/pipeline/pipeline_session.h"
#include "views/theme/theme_choice.h"

namespace jointer {
namespace {

using namespace views;
using test::child;
using test::press;

using test::kPatienceMs;

}  // namespace

class PipelineTest : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    apply_theme(*qApp, ThemeChoice::light);
    folder_ = std::make_unique<QTemporaryDir>();
  }
  void cleanup() {
    pane_.reset();
    document_.reset();
    service_.reset();
  }

  void empty_pane_shows_a_hint();
  void a_pass_is_added_by_typing();
  void a_step_is_dragged_and_moved_by_keys();
  void check_box_enables_a_step();
  void steps_are_removed_duplicated_and_undone();
  void form_matches_the_declared_parameters();
  void errors_are_shown_at_the_field_and_the_step();
  void the_text_is_the_pipeline();
  void runs_step_by_step_and_undoes();
  void run_to_here_says_why_nothing_runs();
  void run_to_a_disabled_step_says_that_it_is_disabled();
  void a_changed_step_runs_again_from_there();
  void a_step_back_that_is_refused_ends_the_run();
  void replaced_text_keeps_its_results_in_the_history();
  void a_changed_limit_runs_again();
  void stopping_is_immediate();
  void a_failure_leaves_the_graph_and_a_reproducer();
  void a_reproducer_opens_with_the_assumptions();
  void concurrent_edit_is_not_lost();
  void a_wrong_order_is_refused_at_its_step();
  void steps_that_cannot_apply_are_refused_before_anything_runs();
  void presets_of_a_joint_graph();
  void presets_that_partition_are_disabled_for_a_flat_step();
  void third_party_code_needs_permission();
  void python_passes_are_asked_about_once();
  void a_python_file_gets_an_absolute_path();
  void document_may_be_closed_during_a_run();

 private:
  void make_pane(const char* text = "") { make_pane(text, test::snapshot_of(test::kSmallStep)); }
  void make_pane(const char* text, const SnapshotPtr& snapshot) {
    service_ = std::make_unique<test::FakePasses>();
    document_ = std::make_unique<Document>(OpenRequest{.path = "small.json"}, snapshot);
    session_ = new PipelineSession(*document_, *service_, document_.get());
    session_->draft().set_pipeline(*parse_step_lines(text));
    pane_ = std::make_unique<PipelinePane>(*session_);
    pane_->resize(800, 420);
    pane_->show();
    QVERIFY(QTest::qWaitForWindowActive(pane_.get()));
  }
  [[nodiscard]] StepList& list() const { return child<StepList>(*pane_); }
  [[nodiscard]] StepForm& form() const { return child<StepForm>(*pane_); }
  [[nodiscard]] PipelineDraft& draft() const { return session_->draft(); }
  [[nodiscard]] QString text() const { return QString::fromStdString(to_text(draft().pipeline())); }
  [[nodiscard]] QRect row(int index) const {
    return list().visualRect(list().model().index(index));
  }
  [[nodiscard]] QAction* preset(const char* name);
  [[nodiscard]] StepStatus status(int index) const {
    return session_->status(static_cast<std::size_t>(index));
  }
  [[nodiscard]] QPushButton& button(const char* name) const {
    return child<QPushButton>(*pane_, name);
  }
  [[nodiscard]] QTabWidget& pages() const { return child<QTabWidget>(*pane_, "pages"); }
  // The status line.
  [[nodiscard]] QString said() const { return child<QLabel>(*pane_, "status").text(); }
  bool settle() {
    return QTest::qWaitFor([this] { return session_->is_settled(); }, kPatienceMs);
  }
  [[nodiscard]] std::string hash() const { return graph_hash(document_->graph()); }

  std::unique_ptr<QTemporaryDir> folder_;
  std::unique_ptr<test::FakePasses> service_;
  std::unique_ptr<Document> document_;
  PipelineSession* session_ = nullptr;  // owned by its document
  std::unique_ptr<PipelinePane> pane_;
};

// --- The list ---

void PipelineTest::empty_pane_shows_a_hint() {
  make_pane();
  QVERIFY(!list().isVisible());
  QVERIFY(!button("run").isEnabled());
  QCOMPARE(button("run").toolTip(), "No steps yet. Add a pass.");
  bool is_said = false;
  for (const auto* label : pane_->findChildren<QLabel*>())
    is_said = is_said || (label->isVisible() && label->text().contains("A pipeline is") &&
                          label->text().contains("choose a preset"));
  QVERIFY(is_said);
}

void PipelineTest::a_pass_is_added_by_typing() {
  make_pane();
  pane_->open_catalog();
  auto& catalog = child<PassCatalog>(*pane_);
  QVERIFY(catalog.isVisible());
  const int all = catalog.model().rowCount();
  QTest::keyClicks(&catalog.edit(), "sinkwaits");
  QVERIFY(catalog.model().rowCount() < all);
  const QAbstractItemModelTester tester(&catalog.model());
  QTest::keyClick(&catalog.edit(), Qt::Key_Return, Qt::ShiftModifier);
  QVERIFY(catalog.isVisible());
  QTest::keyClick(&catalog.edit(), Qt::Key_Return);
  QVERIFY(!catalog.isVisible());
  QVERIFY(text().startsWith("sink_waits"));
  QCOMPARE(draft().size(), 2U);
  QCOMPARE(list().current(), std::optional<std::size_t>(1));
  // Passes that could not be loaded are listed with the reason.
  service_->set_problems({"/x/broken: the library is not there"});
  bool is_listed = false;
  for (int i = 0; i < catalog.model().rowCount(); ++i)
    is_listed = is_listed || catalog.model().index(i).data().toString().contains("/x/");
  QVERIFY(is_listed);
}

void PipelineTest::a_step_is_dragged_and_moved_by_keys() {
  make_pane("stays,remove_tags,told");
  const QAbstractItemModelTester tester(&list().model());
  const QPoint from = row(0).center(), to(row(2).center().x(), row(2).bottom() - 3);
  QTest::mousePress(list().viewport(), Qt::LeftButton, {}, from);
  for (const QPoint at : {from + QPoint(0, 15), (from + to) / 2, to}) {
    QMouseEvent move(QEvent::MouseMove, at, list().viewport()->mapToGlobal(at), Qt::NoButton,
                     Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(list().viewport(), &move);
  }
  QCOMPARE(list().gap(), std::optional<std::size_t>(3));
  QTest::mouseRelease(list().viewport(), Qt::LeftButton, {}, to);
  QCOMPARE(text(), "remove_tags,told,stays");
  QVERIFY(!list().gap());
  // It stays current and can be moved by keyboard.
  QCOMPARE(list().current(), std::optional<std::size_t>(2));
  QTest::keyClick(&list(), Qt::Key_Up, Qt::AltModifier);
  QCOMPARE(text(), "remove_tags,stays,told");
  QTest::keyClick(&list(), Qt::Key_Down, Qt::AltModifier);
  QTest::keyClick(&list(), Qt::Key_Down, Qt::AltModifier);
  QCOMPARE(text(), "remove_tags,told,stays");
  // Esc restores the order.
  QTest::mousePress(list().viewport(), Qt::LeftButton, {}, row(2).center());
  QMouseEvent move(QEvent::MouseMove, row(0).topLeft(),
                   list().viewport()->mapToGlobal(row(0).topLeft()), Qt::NoButton, Qt::LeftButton,
                   Qt::NoModifier);
  QApplication::sendEvent(list().viewport(), &move);
  QVERIFY(list().gap());
  QTest::keyClick(&list(), Qt::Key_Escape);
  QTest::mouseRelease(list().viewport(), Qt::LeftButton, {}, row(0).topLeft());
  QCOMPARE(text(), "remove_tags,told,stays");
}

void PipelineTest::check_box_enables_a_step() {
  make_pane("stays,remove_tags");
  QTest::mouseClick(list().viewport(), Qt::LeftButton, {}, StepDelegate::box_rect(row(1)).center());
  QCOMPARE(text(), "stays,~remove_tags");
  QCOMPARE(status(1), StepStatus::disabled);
  list().setFocus();
  QTest::keyClick(&list(), Qt::Key_Space);
  QCOMPARE(text(), "stays,remove_tags");
}

void PipelineTest::steps_are_removed_duplicated_and_undone() {
  make_pane("stays,told{count=3}");
  list().setFocus();
  QTest::keyClick(&list(), Qt::Key_Down);
  QTest::keyClick(&list(), Qt::Key_D, Qt::ControlModifier);
  QCOMPARE(text(), "stays,told{count=3},told{count=3}");
  QTest::keyClick(&list(), Qt::Key_Delete);
  QTest::keyClick(&list(), Qt::Key_Delete);
  QCOMPARE(text(), "stays");
  draft().undo();
  QCOMPARE(text(), "stays,told{count=3}");
}

// --- Parameters ---

void PipelineTest::form_matches_the_declared_parameters() {
  make_pane("told");
  const auto field = [this](const char* name) { return form().field(name); };
  QCOMPARE(form().fields().size(), 7U);
  QTest::keyClick(&list(), Qt::Key_Return);
  QVERIFY(field("flag")->check()->hasFocus());
  QTest::keyClick(field("flag")->check(), Qt::Key_Space);
  QCOMPARE(text(), "told{flag=true}");
  // The default is shown as such and not stored.
  QVERIFY(field("count")->line()->placeholderText().contains("4 (default)"));
  QTest::keyClicks(field("count")->line(), "12");
  QCOMPARE(text(), "told{flag=true,count=12}");
  QTest::keyClicks(field("limit")->line(), "1.5 GiB");
  QVERIFY(field("limit")->mistake().isEmpty());
  QTest::keyClicks(field("operators")->line(), "aten.mm, aten.bmm");
  QTest::keyClick(field("way")->choice(), Qt::Key_Down);
  emit field("way")->choice()->activated(1);
  QTest::keyClicks(field("pattern")->line(), "layers.0 and more");
  QCOMPARE(text(),
           "told{flag=true,count=12,limit=1.5GiB,operators=[aten.mm,aten.bmm],way=greedy,"
           "pattern=\"layers.0 and more\"}");
  QVERIFY(session_->mistake(0).isEmpty());
  for (const char* name : {"flag", "count", "limit", "operators", "way", "pattern"}) {
    QVERIFY(field(name)->reset().isVisible());
    QTest::mouseClick(&field(name)->reset(), Qt::LeftButton);
    QVERIFY(!field(name)->reset().isVisible());
  }
  QCOMPARE(text(), "told");
  QVERIFY(field("count")->line()->text().isEmpty());
  QVERIFY(!field("flag")->check()->isChecked());
}

void PipelineTest::errors_are_shown_at_the_field_and_the_step() {
  make_pane("stays,told");
  list().setCurrentIndex(list().model().index(1));
  ParameterField* share = form().field("share");
  QTest::keyClicks(share->line(), "1.5");
  QVERIFY(share->hint().text().contains("expected a number from 0 to 1"));
  QCOMPARE(status(1), StepStatus::wrong);
  QVERIFY(!button("run").isEnabled());
  QVERIFY(button("run").toolTip().startsWith("Step 2 cannot run: "));
  // Invalid input is kept.
  QCOMPARE(share->line()->text(), "1.5");
  QTest::keyClick(share->line(), Qt::Key_Backspace);
  QTest::keyClick(share->line(), Qt::Key_Backspace);
  QCOMPARE(text(), "stays,told{share=1}");
  QVERIFY(button("run").isEnabled());
  QTest::keyClick(share->line(), Qt::Key_Backspace);
  QTest::keyClicks(share->line(), "much");
  QVERIFY(share->hint().text().contains("expected a number from 0 to 1, got much"));
}

void PipelineTest::the_text_is_the_pipeline() {
  make_pane("stays");
  auto& page = child<PipelineTextPage>(*pane_);
  const auto& message = child<QLabel>(page, "message");
  QPlainTextEdit& edit = page.edit();
  pages().setCurrentWidget(&page);
  QCOMPARE(edit.toPlainText(), "stays\n");
  edit.setFocus();
  edit.selectAll();
  QTest::keyClicks(&edit, "# mine");
  QTest::keyClick(&edit, Qt::Key_Return);
  QTest::keyClicks(&edit, "told{count=2}, ~stays");
  QCOMPARE(text(), "told{count=2},~stays");
  // Text with the same meaning is kept as written.
  QVERIFY(edit.toPlainText().startsWith("# mine"));
  QTest::keyClicks(&edit, "{count}");
  QVERIFY(message.text().startsWith("Not applied: line 2:"));
  QCOMPARE(edit.extraSelections().size(), 1);
  QCOMPARE(edit.extraSelections().front().cursor.selectionStart(),
           static_cast<int>(edit.toPlainText().indexOf("}", 30)));
  QCOMPARE(text(), "told{count=2},~stays");
  // A change of the list while the focus is elsewhere replaces the text.
  list().setFocus();
  draft().enable(1, true);
  QCOMPARE(edit.toPlainText(), "told{count=2}\nstays\n");
  QVERIFY(edit.extraSelections().isEmpty());
  QVERIFY(!message.text().startsWith("Not applied"));
  // The form and the text show the same pipeline.
  list().setCurrentIndex(list().model().index(0));
  QTest::keyClicks(form().field("count")->line(), "0");
  QCOMPARE(edit.toPlainText(), "told{count=20}\nstays\n");
}

// --- Runs ---

void PipelineTest::runs_step_by_step_and_undoes() {
  make_pane("remove_tags,stays,sink_waits_iterative");
  const std::string start = hash();
  const auto tagged = [this] {
    return document_->graph().node(document_->graph().find("mm")).policy != MemoryPolicy::none;
  };
  QVERIFY(tagged());
  press(button("next"));
  QVERIFY(settle());
  QCOMPARE(status(0), StepStatus::done);
  QCOMPARE(status(1), StepStatus::idle);
  QVERIFY(!tagged());
  Editing& editing = document_->editing();
  QCOMPARE(editing.entry_count(), 1);
  QCOMPARE(editing.entry(0).title, "remove_tags");
  QCOMPARE(list().current(), std::optional<std::size_t>(0));
  QTRY_VERIFY(child<QLabel>(*pane_, "counts").text().contains("2 with a changed policy or region"));
  QVERIFY2(said().startsWith("1 step in ") && said().endsWith(": the estimates did not change"),
           qPrintable(said()));
  // A step that changes nothing adds no history entry.
  press(button("next"));
  QVERIFY(settle());
  QCOMPARE(status(1), StepStatus::done);
  QCOMPARE(editing.entry_count(), 1);
  press(button("run"));
  QVERIFY(settle());
  QCOMPARE(status(2), StepStatus::done);
  QVERIFY(!button("run").isEnabled());
  editing.go_to(0);
  QVERIFY(settle());
  QVERIFY(tagged());
  QCOMPARE(hash(), start);
  QCOMPARE(status(0), StepStatus::undone);
  // Runs again from the document's current position.
  press(button("run"));
  QVERIFY(settle());
  QCOMPARE(status(0), StepStatus::done);
  QCOMPARE(status(2), StepStatus::done);
  list().setCurrentIndex(list().model().index(0));
  child<QAction>(*pane_, "show_before").trigger();
  QVERIFY(settle());
  QVERIFY(tagged());
  QCOMPARE(editing.place(), 0);
  child<QAction>(*pane_, "show_after").trigger();
  QVERIFY(settle());
  QVERIFY(!tagged());
}

void PipelineTest::run_to_here_says_why_nothing_runs() {
  make_pane("~stays,remove_tags,~told,sink_waits_iterative");
  const auto run_to = [this](int place) {
    list().setCurrentIndex(list().model().index(place));
    QAction* action = nullptr;
    for (QAction* each : pane_->findChildren<QAction*>())
      if (each->text().remove(u'&') == "Run to Here") action = each;
    QVERIFY(action != nullptr);
    action->trigger();
    QVERIFY(settle());
  };
  run_to(0);
  QCOMPARE(session_->message(), "All steps up to here are disabled.");
  run_to(1);
  QCOMPARE(status(1), StepStatus::done);
  run_to(1);
  QCOMPARE(session_->message(), "All enabled steps up to here are done.");
  run_to(2);
  QCOMPARE(session_->message(), "Step 3 is disabled. All enabled steps before it are done.");
}

void PipelineTest::run_to_a_disabled_step_says_that_it_is_disabled() {
  make_pane("remove_tags,~told");
  press(button("run"));
  QVERIFY(settle());
  QCOMPARE(status(0), StepStatus::done);
  list().setCurrentIndex(list().model().index(1));
  for (QAction* each : pane_->findChildren<QAction*>())
    if (each->text().remove(u'&') == "Run to Here") each->trigger();
  QVERIFY(settle());
  QCOMPARE(session_->message(), "Step 2 is disabled. All enabled steps before it are done.");
}

void PipelineTest::a_changed_step_runs_again_from_there() {
  make_pane("remove_tags,told,apply_sac");
  press(button("run"));
  QVERIFY(settle());
  Editing& editing = document_->editing();
  QCOMPARE(editing.entry_count(), 2);
  const StepOutcomePtr first = session_->outcome(0);
  draft().set_argument(1, "count", 7);
  QCOMPARE(status(0), StepStatus::done);
  QCOMPARE(status(1), StepStatus::outdated);
  QCOMPARE(status(2), StepStatus::outdated);
  QCOMPARE(session_->next(), std::optional<std::size_t>(1));
  press(button("run"));
  QVERIFY(settle());
  QCOMPARE(session_->outcome(0), first);  // it did not run again
  QCOMPARE(status(2), StepStatus::done);
  // The earlier result stays in the history: undo returns to it.
  QCOMPARE(editing.entry_count(), 3);
  QCOMPARE(editing.entry(1).title, "apply_sac");
  QCOMPARE(editing.entry(2).title, "apply_sac");
  editing.undo();
  QVERIFY(settle());
  QVERIFY(editing.edit_history() == editing.history_at(2));
  editing.redo();
  QVERIFY(settle());
  QCOMPARE(status(2), StepStatus::done);
  session_->start_over();
  QVERIFY(settle());
  QCOMPARE(editing.place(), 0);
}

// The new pipeline changes nothing, so its result is the graph as opened.
void PipelineTest::a_step_back_that_is_refused_ends_the_run() {
  make_pane("remove_tags");
  press(button("run"));
  QVERIFY(settle());
  Editing& editing = document_->editing();
  QCOMPARE(editing.entry_count(), 1);
  editing.edit_history().front()->inverse.changes = {
      SetPolicy{.select = "no_such_node", .policy = MemoryPolicy::must_save}};
  draft().set_pipeline(*parse_step_lines("stays"));
  press(button("run"));
  QVERIFY(settle());
  QVERIFY2(session_->message().startsWith("The result could not be applied: "),
           qPrintable(session_->message()));
  QCOMPARE(editing.place(), 1);
}

// Work must never be lost: undo leads to the results of the text before, not to the opened graph.
void PipelineTest::replaced_text_keeps_its_results_in_the_history() {
  make_pane("remove_tags,apply_sac");
  const auto tagged = [this] {
    const auto order = document_->graph().order();
    return std::ranges::any_of(order, [this](NodeId id) {
      return document_->graph().node(id).policy != MemoryPolicy::none;
    });
  };
  press(button("run"));
  QVERIFY(settle());
  Editing& editing = document_->editing();
  QCOMPARE(editing.entry_count(), 2);
  const EditHistory first = editing.edit_history();
  auto& page = child<PipelineTextPage>(*pane_);
  pages().setCurrentWidget(&page);
  page.edit().setFocus();
  page.edit().selectAll();
  QTest::keyClicks(&page.edit(), "stays,remove_tags");
  QCOMPARE(text(), "stays,remove_tags");
  press(button("run"));
  QVERIFY(settle());
  QCOMPARE(status(1), StepStatus::done);
  const EditHistory second = editing.edit_history();
  QCOMPARE(second.size(), 1U);
  QCOMPARE(second.front()->edit.title, std::string("remove_tags"));
  QCOMPARE(editing.entry_count(), 3);
  QCOMPARE(replaced_edits(editing.entry(2)), 2U);
  editing.undo();
  QVERIFY(settle());
  QVERIFY(editing.edit_history() == first);
  QVERIFY(tagged());
  editing.redo();
  QVERIFY(settle());
  QVERIFY(editing.edit_history() == second);
  QVERIFY(!tagged());
}

// Typed into its field and passed to every pass.
void PipelineTest::a_changed_limit_runs_again() {
  make_pane("limited");
  const auto reason = [this] {
    return QString::fromStdString(session_->outcome(0)->result.decisions.front().reason);
  };
  press(button("run"));
  QVERIFY(settle());
  QCOMPARE(reason(), "no limit");
  QVERIFY(!said().contains("above"));
  auto& box = child<QDoubleSpinBox>(*pane_, "limit");
  QVERIFY(std::ranges::any_of(pane_->findChildren<QLabel*>(), [&](const QLabel* label) {
    return label->buddy() == &box && label->text() == "Peak limit";
  }));
  box.setFocus();
  box.selectAll();
  QTest::keyClicks(&box, "0 B");
  QTest::keyClick(&box, Qt::Key_Return);
  QCOMPARE(status(0), StepStatus::done);
  box.selectAll();
  QTest::keyClicks(&box, "2.5");
  QTest::keyClick(&box, Qt::Key_Return);
  QCOMPARE(status(0), StepStatus::outdated);
  press(button("run"));
  QVERIFY(settle());
  QCOMPARE(reason(), "within 2684354560");
  session_->set_peak_limit(1);
  press(button("run"));
  QVERIFY(settle());
  QVERIFY2(said().contains("above the limit of 1 B"), qPrintable(said()));
}

void PipelineTest::stopping_is_immediate() {
  make_pane("remove_tags,slow,apply_sac");
  press(button("run"));
  QVERIFY(session_->is_running());
  QVERIFY(button("stop").isEnabled());
  QVERIFY(QTest::qWaitFor(
      [this] { return status(1) == StepStatus::running && service_->running() == 1; },
      kPatienceMs));
  QTRY_VERIFY(said().contains("Step 2 of 3: slow"));
  QCOMPARE(status(2), StepStatus::waiting);
  QElapsedTimer time;
  time.start();
  press(button("stop"));
  QVERIFY(settle());
  QVERIFY2(time.elapsed() < 100, qPrintable(QString::number(time.elapsed())));
  QVERIFY(said().startsWith("Stopped during slow"));
  // The previous step was kept and can be undone.
  QCOMPARE(status(0), StepStatus::done);
  QCOMPARE(status(1), StepStatus::idle);
  QCOMPARE(document_->editing().entry_count(), 1);
  // The next run does not wait for the cancelled one.
  draft().remove(1);
  press(button("run"));
  QVERIFY(settle());
  QCOMPARE(status(1), StepStatus::done);
  QTRY_COMPARE(service_->running(), 0);
  QCOMPARE(document_->editing().entry_count(), 2);
}

void PipelineTest::a_failure_leaves_the_graph_and_a_reproducer() {
  for (const char* pass : {"fails", "spoils"}) {
    make_pane((std::string("remove_tags,") + pass + ",apply_sac").c_str());
    session_->set_peak_limit(3 << 20);
    press(button("run"));
    QVERIFY(settle());
    QCOMPARE(status(0), StepStatus::done);
    QCOMPARE(status(1), StepStatus::failed);
    QCOMPARE(status(2), StepStatus::idle);
    QCOMPARE(document_->editing().entry_count(), 1);
    const StepFailure* failure = session_->failure(1);
    QVERIFY(said().contains("This step did not change the graph"));
    QVERIFY(QFile::exists(failure->reproducer));
    QCOMPARE(list().current(), std::optional<std::size_t>(1));
    // It is a capture that contains the failed step.
    const auto graph = open_graph({.path = failure->reproducer.toStdString()});
    QVERIFY(graph);
    Document again(OpenRequest{.path = "again"}, *make_snapshot(*graph, {}));
    const auto* session = new PipelineSession(again, *service_, &again);
    QCOMPARE(session->draft().text(), QString::fromLatin1(pass) + "\n");
    QVERIFY(session->message().startsWith("This is a reproducer"));
    QCOMPARE(session->peak_limit(), std::optional<std::int64_t>(3 << 20));
    QFile::remove(failure->reproducer);
    // With other parameters it no longer fails.
    draft().remove(1);
    QCOMPARE(status(1), StepStatus::idle);
    cleanup();
  }
}

// The file cannot contain the distance between the ranks of the group.
void PipelineTest::a_reproducer_opens_with_the_assumptions() {
  Graph graph = test::snapshot_of(R"(
    x: f32[16,64] = input
    g: f32[64,64] = _c10d_functional.all_gather_into_tensor(x, 4, 'fsdp')
    v: f32[64,64] = _c10d_functional.wait_tensor(g)
    return [v]
  )")
                    ->graph;
  QVERIFY(graph.assume(*Assumptions::parse("stride:fsdp=2")));
  make_pane("fails", *make_snapshot(std::move(graph), {}));
  press(button("run"));
  QVERIFY(settle());
  QCOMPARE(status(0), StepStatus::failed);
  OpenRequest asked;
  connect(session_, &PipelineSession::graph_made, pane_.get(),
          [&asked](const OpenRequest& made, const QString& /*recipe*/) { asked = made; });
  for (auto* page : pane_->findChildren<QTextBrowser*>())
    if (page->accessibleName() == "Step output") emit page->anchorClicked(QUrl("reproducer"));
  const auto again = open_graph(asked);
  QVERIFY2(again, again ? "" : again.error().message.c_str());
  QCOMPARE(again->assumptions().text(), std::string("stride:fsdp=2"));
  QFile::remove(QString::fromStdString(asked.path));
}

void PipelineTest::concurrent_edit_is_not_lost() {
  make_pane("remove_tags,slow");
  press(button("run"));
  QVERIFY(QTest::qWaitFor([this] { return service_->running() == 1; }, kPatienceMs));
  Edit edit{.title = "mine"};
  edit.changes.emplace_back(SetPolicy{.select = "relu", .policy = MemoryPolicy::must_save});
  document_->editing().apply(edit);
  QVERIFY(QTest::qWaitFor([this] { return document_->editing().is_edited(); }, kPatienceMs));
  press(button("stop"));
  QVERIFY(settle());
  QCOMPARE(document_->editing().entry_count(), 1);
  QCOMPARE(document_->editing().entry(0).title, "mine");
  QVERIFY(said().contains("edited while the pipeline ran"));
}

void PipelineTest::a_wrong_order_is_refused_at_its_step() {
  make_pane("autobucketing_reordering,stays,transformer_block_bucketing");
  QCOMPARE(status(0), StepStatus::idle);
  QCOMPARE(status(2), StepStatus::wrong);
  QVERIFY(list()
              .model()
              .index(2)
              .data(StepModel::detail_role)
              .toString()
              .contains("mutually exclusive"));
  draft().set_pipeline(*parse_step_lines("sink_wait_iterative"));
  QVERIFY(session_->mistake(0).contains("did you mean sink_waits_iterative?"));
}

void PipelineTest::steps_that_cannot_apply_are_refused_before_anything_runs() {
  make_pane("slow,min_cut_partition,min_cut_partition");
  QCOMPARE(status(1), StepStatus::idle);
  QCOMPARE(status(2), StepStatus::wrong);
  QVERIFY2(session_->mistake(2).contains("needs a joint graph"), qPrintable(session_->mistake(2)));
  QVERIFY(!button("run").isEnabled());
}

// Opens the pane's menu of presets, and returns the preset's entry.
QAction* PipelineTest::preset(const char* name) {
  for (const auto* each : pane_->findChildren<QPushButton*>())
    if (each->text() == "Presets") {
      each->menu()->popup(pane_->mapToGlobal(QPoint()));
      for (QAction* entry : each->menu()->actions())
        if (entry->text() == name) return entry;
    }
  throw std::runtime_error(std::string("no preset ") + name);
}

void PipelineTest::presets_of_a_joint_graph() {
  make_pane();
  QVERIFY(preset("fsdp_tp")->isEnabled());
  QVERIFY(preset("fsdp_tp")->toolTip().contains("min_cut_partition"));
  // A model without experts is left unchanged.
  QVERIFY(preset("graph_trainer_ep_overlap")->isEnabled());
}

void PipelineTest::presets_that_partition_are_disabled_for_a_flat_step() {
  make_pane("", test::snapshot_of("kind train_step\n" + std::string(test::kSmallStep)));
  QVERIFY(!preset("fsdp_tp")->isEnabled());
  QVERIFY2(preset("fsdp_tp")->toolTip().contains("Cannot be applied: min_cut_partition"),
           qPrintable(preset("fsdp_tp")->toolTip()));
}

void PipelineTest::third_party_code_needs_permission() {
  make_pane("foreign");
  QSignalSpy asked(session_, &PipelineSession::asks);
  press(button("run"));
  QCOMPARE(asked.count(), 1);
  QVERIFY(!session_->is_running());
  const auto code = asked[0][0].value<QList<ForeignCode>>();
  QCOMPARE(code.size(), 1);
  QCOMPARE(code[0].source, "/somewhere");
  QVERIFY(code_text(code[0]).contains("foreign"));
  // Once allowed, the requested command continues.
  service_->allow(code[0]);
  asked[0][1].value<std::function<void()>>()();
  QVERIFY(settle());
  QCOMPARE(status(0), StepStatus::done);
  QCOMPARE(asked.count(), 1);
  // A restored pipeline says where its pass came from and that it is not loaded.
  const WorkspacePipeline kept = draft().saved();
  QCOMPARE(kept.sources.size(), 1U);
  service_->remove_foreign();
  QVERIFY(session_->mistake(0).contains("/somewhere"));
  pages().setCurrentWidget(&form());
  QVERIFY(button("load").isVisible());
}

void PipelineTest::python_passes_are_asked_about_once() {
  service_ = std::make_unique<test::FakePasses>();
  QWidget window;
  window.show();
  CodeQuestions questions(*service_, &window);
  const ForeignCode code{.kind = ForeignCode::Kind::python,
                         .source = "/somewhere/mine.py",
                         .file = "/somewhere/mine.py",
                         .hash = "0123456789abcdef",
                         .passes = {}};
  const auto boxes = [&] { return window.findChildren<QMessageBox*>("code_question"); };
  questions.load(code);
  questions.load(code);
  QCOMPARE(boxes().size(), 1);
  QTest::keyClick(boxes().front(), Qt::Key_Escape);
  QTRY_VERIFY(boxes().isEmpty());
  QVERIFY(service_->added().isEmpty());
  questions.load(code);
  QCOMPARE(boxes().size(), 1);
  const QMessageBox* box = boxes().front();
  for (auto* button : box->buttons())
    if (box->buttonRole(button) == QMessageBox::AcceptRole)
      QTest::mouseClick(button, Qt::LeftButton);
  QTRY_VERIFY(boxes().isEmpty());
  QCOMPARE(service_->added(), QStringList{code.source});
  // Allowed code is added again without a question.
  questions.load(code);
  QVERIFY(boxes().isEmpty());
  QCOMPARE(service_->added().size(), 2);
}

// Folders may have `.py` in their names, too.
void PipelineTest::a_python_file_gets_an_absolute_path() {
  service_ = std::make_unique<test::FakePasses>();
  QWidget window;
  window.show();
  CodeQuestions questions(*service_, &window);
  questions.choose_python();
  const auto& dialog = child<QDialog>(window, "python_pass");
  child<QLineEdit>(dialog).setText(".pyx/mine.py:sink");
  for (auto* button : dialog.findChildren<QPushButton*>())
    if (button->text() == "Add...") press(*button);
  const auto& box = child<QMessageBox>(window, "code_question");
  const QString path = QDir::current().absoluteFilePath(".pyx/mine.py");
  QVERIFY2(box.informativeText().contains(QStringLiteral("Python pass %1:sink").arg(path)),
           qPrintable(box.informativeText()));
}

void PipelineTest::document_may_be_closed_during_a_run() {
  make_pane("slow");
  press(button("run"));
  QVERIFY(QTest::qWaitFor([this] { return service_->running() == 1; }, kPatienceMs));
  QElapsedTimer time;
  time.start();
  pane_.reset();
  document_.reset();
  QVERIFY2(time.elapsed() < 100, qPrintable(QString::number(time.elapsed())));
  QTRY_COMPARE(service_->running(), 0);
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::PipelineTest, "pipeline")
#include "pipeline_test.moc"
