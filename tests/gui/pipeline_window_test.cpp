// Tests the pipeline pane in the real window: with documents, plugins, files and workspaces.

#include <QFile>
#include <QMessageBox>
#include <QSignalSpy>
#include <QTest>

#include "core/base/bytes.h"
#include "core/base/environment.h"
#include "core/capture/native_writer.h"
#include "core/graph/canonical.h"
#include "core/pass/pipeline_file.h"
#include "core/process/child.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/child.h"
#include "tests/support/fake_passes.h"
#include "tests/support/joints.h"
#include "tests/support/paths.h"
#include "tests/support/snapshots.h"
#include "views/compare/compare_pane.h"
#include "views/pipeline/code_questions.h"
#include "views/pipeline/pipeline_pane.h"
#include "views/session/edit/editing.h"
#include "views/session/pipeline/pipeline_session.h"
#include "views/session/workspace/autosave.h"

namespace jointer {
namespace {

using namespace views;
using desktop::MainWindow;
using test::child;
using test::kPatienceMs;
using test::kSample;

}  // namespace

class PipelineWindowTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init() { make_folder(); }
  void cleanup() { close_window(); }

  void the_window_runs_a_preset_as_edits();
  void the_menu_adds_a_pass_and_compare_shows_both_sides();
  void a_pair_opens_with_the_steps_that_follow();
  void the_steps_that_follow_reach_a_pair_in_the_background();
  void a_pair_opens_with_the_assumptions();
  void a_dropped_pipeline_is_loaded_and_runs_nothing();
  void failing_plugin_is_reported();
  void workspace_stores_the_pipeline();

 private:
  bool open_window() {
    make_window();
    return open_file(test::source_path(kSample)) && show_pipeline();
  }
  bool show_pipeline() {
    auto* pane = show_pane<PipelinePane>("pipeline");
    if (pane != nullptr) session_ = &pane->session();
    return pane != nullptr;
  }
  [[nodiscard]] PipelinePane& window_pane() const {
    return *qobject_cast<PipelinePane*>(window_->dock("pipeline")->pane());
  }
  [[nodiscard]] QString text() const {
    return QString::fromStdString(to_text(session_->draft().pipeline()));
  }
  [[nodiscard]] StepStatus status(int index) const {
    return session_->status(static_cast<std::size_t>(index));
  }
  bool settle() {
    return QTest::qWaitFor([this] { return session_->is_settled(); }, kPatienceMs);
  }

  PipelineSession* session_ = nullptr;  // owned by its document
};

void PipelineWindowTest::the_menu_adds_a_pass_and_compare_shows_both_sides() {
  QVERIFY(open_window());
  for (const char* name : {"Add Pass apply_sac", "Add Pass sink_waits_iterative"})
    for (auto* action : window_->findChildren<QAction*>())
      if (action->text() == name) action->trigger();
  QCOMPARE(text(), "apply_sac,sink_waits_iterative");
  QTest::keyClick(window_.get(), Qt::Key_F10);
  QVERIFY(settle());
  QTest::keyClick(window_.get(), Qt::Key_F10);
  QVERIFY(settle());
  QCOMPARE(document().editing().entry_count(), 2);
  // For the step that ran last, which is now current.
  child<QAction>(window_pane(), "compare").trigger();
  PaneDock* dock = window_->dock("compare");
  QTRY_VERIFY(dock->pane() != nullptr);
  auto* compare = qobject_cast<ComparePane*>(dock->pane());
  QTRY_VERIFY(compare->comparison() != nullptr &&
              child<QComboBox>(*compare, "from").currentText().startsWith("after 1"));
  QTRY_VERIFY(compare->summary().contains(" moved"));
  QVERIFY(child<QComboBox>(*compare, "to").currentText().startsWith("after 2"));
}

void PipelineWindowTest::the_window_runs_a_preset_as_edits() {
  QVERIFY(open_window());
  QAction* preset = nullptr;
  for (auto* action : window_->findChildren<QAction*>())
    if (action->text() == "Preset fsdp_tp_auto_bucketing") preset = action;
  QVERIFY(preset != nullptr);
  preset->trigger();
  QCOMPARE(session_->draft().size(), 4U);
  QTest::keyClick(window_.get(), Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
  QVERIFY(session_->is_running());
  QVERIFY(settle());
  for (int i = 0; i < 4; ++i) QCOMPARE(status(i), StepStatus::done);
  // Steps up to the partitioner are edits of the joint graph; the partition is one that the SAC
  // pane understands, and later steps belong to the pair.
  const Editing& editing = document().editing();
  QVERIFY(editing.entry_count() >= 1);
  QCOMPARE(editing.entry(editing.entry_count() - 1).title, "min_cut_partition");
  QVERIFY(session_->outcome(2)->is_another_graph());
  QVERIFY(session_->outcome(3)->result.graph->is_pair());
  const std::string before = graph_hash(document().baseline()->graph);
  document().editing().go_to(0);
  QVERIFY(settle());
  QCOMPARE(graph_hash(document().graph()), before);
}

void PipelineWindowTest::a_pair_opens_with_the_steps_that_follow() {
  QVERIFY(open_window());
  session_->draft().set_pipeline(*parse_step_lines("min_cut_partition\nsink_waits_iterative"));
  session_->run();
  QVERIFY(settle());
  const std::string after = graph_hash(*session_->outcome(1)->result.graph);
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  auto& steps = child<StepList>(window_pane());
  steps.setCurrentIndex(steps.model().index(1));
  child<QAction>(window_pane(), "open_graph").trigger();
  QVERIFY(opened.wait(kPatienceMs));
  QCOMPARE(test::tab_count(*window_), 2);
  QVERIFY(document().graph().is_pair());
  QTRY_COMPARE_WITH_TIMEOUT(graph_hash(document().graph()), after, kPatienceMs);
  QCOMPARE(document().editing().entry_count(), 1);
  QCOMPARE(document().editing().entry(0).by, "sink_waits_iterative");
}

// The user returns to the first document while the pair is loading.
void PipelineWindowTest::the_steps_that_follow_reach_a_pair_in_the_background() {
  QVERIFY(open_window());
  session_->draft().set_pipeline(*parse_step_lines("min_cut_partition\nsink_waits_iterative"));
  session_->run();
  QVERIFY(settle());
  const std::string after = graph_hash(*session_->outcome(1)->result.graph);
  auto& tabs = child<QTabBar>(*window_, "documents");
  QTimer leave;
  connect(&leave, &QTimer::timeout, &tabs, [&tabs] {
    if (tabs.count() == 2) tabs.setCurrentIndex(0);
  });
  leave.start(0);
  const int edits = document().editing().entry_count();
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  auto& steps = child<StepList>(window_pane());
  steps.setCurrentIndex(steps.model().index(1));
  child<QAction>(window_pane(), "open_graph").trigger();
  QVERIFY(opened.wait(kPatienceMs));
  leave.stop();
  QCOMPARE(tabs.currentIndex(), 0);
  QCOMPARE(document().editing().entry_count(), edits);
  tabs.setCurrentIndex(1);
  QVERIFY(document().graph().is_pair());
  QTRY_COMPARE_WITH_TIMEOUT(graph_hash(document().graph()), after, kPatienceMs);
  QCOMPARE(document().editing().entry_count(), 1);
}

// The capture lacks the ranks of the group and the value of u0.
void PipelineWindowTest::a_pair_opens_with_the_assumptions() {
  const QString path = folder_->filePath("joint.json");
  const SnapshotPtr joint = test::snapshot_of(test::kSymbolicGather);
  QVERIFY(write_bytes(path.toStdString(), write_native(joint->graph)));
  make_window();
  OpenRequest request{.path = path.toStdString()};
  request.assumptions = *Assumptions::parse("stride:fsdp=2,u0=32");
  QSignalSpy opened(window_.get(), &MainWindow::opened);
  window_->open(request);
  QVERIFY(opened.wait(kPatienceMs) && show_pipeline());
  session_->draft().set_pipeline(*parse_step_lines("min_cut_partition"));
  session_->run();
  QVERIFY(settle());
  const StepFigures estimated = session_->outcome(0)->result.after;
  auto& steps = child<StepList>(window_pane());
  steps.setCurrentIndex(steps.model().index(0));
  child<QAction>(window_pane(), "open_graph").trigger();
  QVERIFY(opened.wait(kPatienceMs));
  QVERIFY(document().graph().is_pair());
  QCOMPARE(document().graph().assumptions().text(), request.assumptions.text());
  QCOMPARE(document().analysis().simulation.step_ns(), estimated.figures.step_ns);
  QCOMPARE(document().analysis().memory.peak_bytes(), estimated.figures.peak_bytes);
}

void PipelineWindowTest::a_dropped_pipeline_is_loaded_and_runs_nothing() {
  QVERIFY(open_window());
  const QString path = folder_->filePath("mine.json");
  QVERIFY(write_bytes(
      path.toStdString(),
      write_pipeline_json({.name = "mine", .steps = *parse_step_lines("remove_tags,~apply_sac")})));
  test::drop(*window_, {path});
  QCOMPARE(text(), "remove_tags,~apply_sac");
  QVERIFY(!session_->is_running());
  QCOMPARE(test::tab_count(*window_), 1);
  QCOMPARE(document().editing().entry_count(), 0);
  // Saving and loading gives the same pipeline.
  const QString saved = folder_->filePath("saved.jointer-passes");
  QVERIFY(save_pipeline(*session_, saved));
  session_->draft().set_pipeline({});
  test::drop(*window_, {saved});
  QCOMPARE(text(), "remove_tags,~apply_sac");
  // An invalid file is rejected, and the list stays.
  QFile broken(folder_->filePath("broken.jointer-passes"));
  QVERIFY(broken.open(QFile::WriteOnly));
  broken.write("remove_tags{");
  broken.close();
  test::drop(*window_, {broken.fileName()});
  QVERIFY(session_->message_is_error());
  QVERIFY(session_->message().contains("broken.jointer-passes, line 1"));
  QVERIFY(child<MessageBar>(*window_).isVisible());
  QCOMPARE(child<MessageBar>(*window_).text(), session_->message());
  QCOMPARE(text(), "remove_tags,~apply_sac");
}

void PipelineWindowTest::failing_plugin_is_reported() {
  // As on disk, described by its host.
  const QString folder = folder_->filePath("bad_passes");
  QVERIFY(QDir().mkpath(folder));
  const QString library = folder + "/bad_passes.so";
  QVERIFY(QFile::copy(QStringLiteral(JOINTER_TEST_MODULES "/bad_passes.so"), library));
  ChildOptions describe;
  describe.command = {sibling_program("jointer-plugin-host"), "--describe", library.toStdString(),
                      "For tests."};
  auto child = Child::start(describe);
  QVERIFY(child);
  QVERIFY(child->wait().succeeded());
  QVERIFY(open_window());
  auto& service = session_->service();
  const auto code = service.code_at("plugin: " + folder);
  QVERIFY(code.has_value());
  service.add(*code);  // runs nothing
  QVERIFY(service.registry()->find("throw_exception") != nullptr);
  const std::string before = graph_hash(document().graph());
  session_->draft().set_pipeline(*parse_step_lines("print,crash"));
  session_->run();
  // Nothing runs before it is allowed; Esc does not allow it.
  auto* box = window_->findChild<QMessageBox*>("code_question");
  QVERIFY(box != nullptr);
  QVERIFY(box->informativeText().contains("bad_passes.so"));
  QTest::keyClick(box, Qt::Key_Escape);
  QTRY_VERIFY(window_->findChild<QMessageBox*>("code_question") == nullptr);
  QVERIFY(!session_->is_running());
  session_->run();
  box = window_->findChild<QMessageBox*>("code_question");
  QVERIFY(box != nullptr);
  for (auto* button : box->buttons())
    if (box->buttonRole(button) == QMessageBox::AcceptRole)
      QTest::mouseClick(button, Qt::LeftButton);
  QVERIFY(settle());
  QCOMPARE(status(0), StepStatus::done);
  QVERIFY(session_->outcome(0)->printed.contains("hello from printf"));
  QCOMPARE(status(1), StepStatus::failed);
  QVERIFY(session_->message().contains("signal"));
  QCOMPARE(graph_hash(document().graph()), before);
  // The reproducer names the pass and says where it came from.
  const auto again = open_graph({.path = session_->failure(1)->reproducer.toStdString()});
  QVERIFY(again);
  const auto said = reproduced(*again);
  QVERIFY(said && said->settings.plugins == std::vector{folder.toStdString()});
  Document opened(OpenRequest{.path = "again"}, *make_snapshot(*again, {}));
  test::FakePasses others;
  const auto* session = new PipelineSession(opened, others, &opened);
  QCOMPARE(session->draft().source_of("crash"), "plugin: " + folder);
  QVERIFY(QFile::exists(session_->failure(1)->reproducer));
  QFile::remove(session_->failure(1)->reproducer);
  // Asked once, also across restarts, until the file changes.
  cleanup();
  QVERIFY(open_window());
  QVERIFY(session_->service().registry()->find("crash") != nullptr);
  QVERIFY(!session_->service().unallowed("crash").has_value());
  QFile changed(library);
  QVERIFY(changed.open(QFile::Append));
  changed.write("x");
  changed.close();
  QVERIFY(session_->service().unallowed("crash").has_value());
}

void PipelineWindowTest::workspace_stores_the_pipeline() {
  const QString path = folder_->filePath("work.jointer");
  QVERIFY(open_window());
  session_->draft().set_pipeline(
      *parse_step_lines("remove_tags,~sink_waits_iterative{budget=0.1}"));
  auto* autosave = &window_->current_tab()->session()->autosave();
  QVERIFY(autosave->is_dirty());
  QSignalSpy saved(autosave, &Autosave::saved);
  autosave->save(path, {});
  QVERIFY(saved.wait(kPatienceMs));
  QVERIFY(!autosave->is_dirty());
  cleanup();
  make_window();
  QVERIFY(open_file(path.toStdString()) && show_pipeline());
  QTRY_COMPARE_WITH_TIMEOUT(text(), "remove_tags,~sink_waits_iterative{budget=0.1}", kPatienceMs);
  QCOMPARE(document().editing().entry_count(), 0);
  QVERIFY(!session_->is_running());
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::PipelineWindowTest, "pipeline_window")
#include "pipeline_window_test.moc"
