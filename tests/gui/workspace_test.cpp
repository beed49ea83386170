// Tests that no work is lost: workspaces are saved and opened, journals restored, in the real
// window.

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <memory>

#include "app/desktop/first_minutes.h"
#include "app/desktop/main_window.h"
#include "core/base/bytes.h"
#include "core/capture/native_writer.h"
#include "core/graph/literal.h"
#include "tests/gui/gestures.h"
#include "tests/gui/gui_test.h"
#include "tests/support/fake_benchmarks.h"
#include "tests/support/paths.h"
#include "views/session/document/marks.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/workspace/autosave.h"
#include "views/widgets/wrapped_text.h"
#include "views/window/restore_bar.h"

namespace jointer {
namespace {

using namespace views;
using desktop::MainWindow;

using test::kPatienceMs;
const QString kCapture =
    QString::fromStdString(test::source_path("resources/samples/llama_debug_fsdp2.joint.json.zst"));

Edit save_policy(const std::string& node) {
  return {.title = "Save " + node,
          .changes = {SetPolicy{.select = node, .policy = MemoryPolicy::must_save}}};
}

}  // namespace

class WorkspaceTest : public QObject {
  Q_OBJECT

 private slots:
  void init();
  void cleanup() { settings_.reset(); }

  void saves_and_opens();
  void restores_open_documents();
  void document_on_the_command_line_opens_once();
  void discards_restored_edits();
  void estimates_are_restored_with_the_edits();
  void estimates_without_edits_can_be_discarded();
  void given_options_override_saved_ones();
  void another_graph_than_the_workspaces_is_refused();
  void closing_loses_nothing();
  void reloading_loses_nothing();
  void reloading_waits_for_saves();
  void leaves_another_windows_journals_alone();
  void skipped_edits_are_reported();
  void a_stopped_autosave_stays_in_view();
  void asks_for_a_moved_capture();
  void a_moved_pair_needs_both_files();
  void only_the_missing_half_of_a_pair_is_asked_for();
  void closing_asks_about_unsaved_edits();
  void closing_saves_if_asked_to();
  void closing_the_window_asks_too();
  void closing_waits_for_saves();
  void marks_are_saved_and_restored();
  void closing_asks_about_moves_of_kernels();
  void says_what_was_restored();

 private:
  std::unique_ptr<MainWindow> make_window();
  DocumentTab* open(MainWindow& window, const QString& path);
  // Closes the window, and opens a file in a new one.
  DocumentTab* reopen(std::unique_ptr<MainWindow>& window, const QString& path) {
    window.reset();
    window = make_window();
    return open(*window, path);
  }
  // Opens a workspace whose capture is missing, and returns the question about it.
  QMessageBox* ask_for(MainWindow& window, const CaptureReference& capture);
  static void accept(const QMessageBox& box) {
    for (QAbstractButton* button : box.buttons())
      if (box.buttonRole(button) == QMessageBox::AcceptRole)
        return QTest::mouseClick(button, Qt::LeftButton);
    QFAIL("no button accepts");
  }
  // Some edits, the last of which is undone, and a named state.
  void edit(DocumentTab& tab);
  static Autosave& autosave(const DocumentTab& tab) { return tab.session()->autosave(); }
  static Editing& editing(const DocumentTab& tab) { return tab.document()->editing(); }
  static RestoreBar* bar(const MainWindow& window) { return window.findChild<RestoreBar*>(); }
  [[nodiscard]] QString journals() const { return folder_->filePath("journals"); }
  [[nodiscard]] QStringList journal_files() const {
    return QDir(journals()).entryList({"*.journal"}, QDir::Files);
  }
  // Copies the journals as if the window had been killed, so that no program has them locked.
  void kill(std::unique_ptr<MainWindow>& window);
  void save(DocumentTab& tab, const QString& path);
  // Presses a button of the question about unsaved changes, which must be shown.
  static void answer(const MainWindow& window, QMessageBox::StandardButton button) {
    QVERIFY(question(window) != nullptr);
    QTest::mouseClick(question(window)->button(button), Qt::LeftButton);
    QTRY_VERIFY(question(window) == nullptr);
  }
  static void press_close(MainWindow& window) {
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QTest::keyClick(&window, Qt::Key_W, Qt::ControlModifier);
  }
  static QMessageBox* question(const MainWindow& window) {
    return window.findChild<QMessageBox*>("unsaved_changes");
  }

  test::FakeBenchmarks service_;
  std::unique_ptr<QTemporaryDir> folder_;
  std::unique_ptr<QSettings> settings_;
};

void WorkspaceTest::init() {
  folder_ = std::make_unique<QTemporaryDir>();
  settings_ = std::make_unique<QSettings>(folder_->filePath("settings.ini"), QSettings::IniFormat);
}

std::unique_ptr<MainWindow> WorkspaceTest::make_window() {
  desktop::FirstMinutes::set_dismissed(*settings_, true);
  auto window = std::make_unique<MainWindow>(*settings_, AnalysisOptions{}, service_,
                                             BenchmarkHistory(folder_->path().toStdString()));
  window->set_journal_folder(journals());
  window->show();
  return window;
}

DocumentTab* WorkspaceTest::open(MainWindow& window, const QString& path) {
  QSignalSpy opened(&window, &MainWindow::opened);
  window.open({.path = path.toStdString()});
  if (opened.isEmpty() && !opened.wait(kPatienceMs)) qFatal("it was not opened");
  // Saved work is restored afterwards.
  QCoreApplication::processEvents();
  DocumentTab* tab = window.current_tab();
  if (!QTest::qWaitFor([&] { return editing(*tab).is_settled(); }, kPatienceMs))
    qFatal("it does not settle");
  return tab;
}

QMessageBox* WorkspaceTest::ask_for(MainWindow& window, const CaptureReference& capture) {
  const std::string path = folder_->filePath("work.jointer").toStdString();
  Workspace workspace;
  workspace.capture = capture;
  if (!write_workspace(path, workspace)) return nullptr;
  QSignalSpy failed(&window, &MainWindow::open_failed);
  window.open({.path = path});
  if (!QTest::qWaitFor([&] { return !failed.isEmpty(); }, kPatienceMs)) return nullptr;
  return window.findChild<QMessageBox*>("ask_for_capture");
}

void WorkspaceTest::edit(DocumentTab& tab) {
  const Graph& graph = tab.document()->graph();
  int count = 0;
  for (const NodeId id : graph.order())
    if (graph.node(id).kind == NodeKind::call && count++ < 4)
      editing(tab).apply(save_policy(std::string(graph.name(id))));
  QTRY_COMPARE_WITH_TIMEOUT(editing(tab).entry_count(), 4, kPatienceMs);
  editing(tab).keep_state("best");
  editing(tab).undo();
  QTRY_VERIFY_WITH_TIMEOUT(editing(tab).is_settled() && editing(tab).place() == 3, kPatienceMs);
}

void WorkspaceTest::kill(std::unique_ptr<MainWindow>& window) {
  QVERIFY(QTest::qWaitFor(
      [&] {
        const auto state =
            read_journal(QDir(journals()).filePath(journal_files().front()).toStdString());
        return state && state->workspace.history == editing(*window->current_tab()).history();
      },
      kPatienceMs));
  const QString dead = folder_->filePath("dead");
  QDir().mkpath(dead);
  for (const QString& name : journal_files())
    QFile::copy(QDir(journals()).filePath(name), QDir(dead).filePath(name));
  window.reset();
  QDir(journals()).removeRecursively();
  QVERIFY(QDir().rename(dead, journals()));
}

void WorkspaceTest::save(DocumentTab& tab, const QString& path) {
  QSignalSpy saved(&autosave(tab), &Autosave::saved);
  autosave(tab).save(path, {});
  QTRY_VERIFY_WITH_TIMEOUT(!saved.isEmpty(), kPatienceMs);
}

void WorkspaceTest::saves_and_opens() {
  const QString path = folder_->filePath("work.jointer");
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  QVERIFY(!autosave(*tab).is_dirty());
  QVERIFY(journal_files().isEmpty());
  edit(*tab);
  QVERIFY(autosave(*tab).is_dirty());
  QVERIFY(window->isWindowModified());
  QCOMPARE(journal_files().size(), 1);
  save(*tab, path);
  QVERIFY(!autosave(*tab).is_dirty());
  QVERIFY(!window->isWindowModified());
  QVERIFY(journal_files().isEmpty());
  const History history = editing(*tab).history();

  // One more edit, then Ctrl+S.
  editing(*tab).redo();
  QTRY_VERIFY_WITH_TIMEOUT(autosave(*tab).is_dirty(), kPatienceMs);
  QSignalSpy saved(&autosave(*tab), &Autosave::saved);
  QTest::keyClick(window.get(), Qt::Key_S, Qt::ControlModifier);
  QTRY_VERIFY_WITH_TIMEOUT(!saved.isEmpty(), kPatienceMs);
  QCOMPARE(read_workspace(path.toStdString())->history.place, history.place + 1);
  editing(*tab).undo();
  QTRY_VERIFY_WITH_TIMEOUT(editing(*tab).place() == 3 && editing(*tab).is_settled(), kPatienceMs);
  save(*tab, path);
  tab = reopen(window, path);
  QTRY_COMPARE_WITH_TIMEOUT(editing(*tab).entry_count(), 4, kPatienceMs);
  QVERIFY(editing(*tab).history() == history);
  QCOMPARE(autosave(*tab).path(), path);
  QVERIFY(!autosave(*tab).is_dirty());
  QVERIFY(bar(*window) == nullptr);
  // The graph is edited, and undone edits can be redone.
  const auto& edits = history.edits();
  const auto* set = std::get_if<SetPolicy>(&edits.back().changes.front());
  const Graph& graph = tab->document()->graph();
  QCOMPARE(graph.node(graph.find(set->select)).policy, MemoryPolicy::must_save);
  editing(*tab).redo();
  QTRY_COMPARE_WITH_TIMEOUT(editing(*tab).place(), 4, kPatienceMs);
}

void WorkspaceTest::restores_open_documents() {
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  edit(*tab);
  const History history = editing(*tab).history();
  kill(window);

  window = make_window();
  QSignalSpy opened(window.get(), &MainWindow::opened);
  window->restore_left();
  QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), kPatienceMs);
  tab = window->current_tab();
  QTRY_VERIFY_WITH_TIMEOUT(bar(*window) != nullptr, kPatienceMs);
  QVERIFY(editing(*tab).history() == history);
  QVERIFY(autosave(*tab).is_dirty());
  const QString said = bar(*window)->findChild<WrappedText*>()->toPlainText();
  QVERIFY2(said.startsWith("Restored 3 edits of "), qPrintable(said));
  QTest::mouseClick(bar(*window)->findChild<QPushButton*>("keep"), Qt::LeftButton);
  QTRY_VERIFY(bar(*window) == nullptr);
  QVERIFY(editing(*tab).history() == history);
  QCOMPARE(journal_files().size(), 1);
  // Work continues from there.
  editing(*tab).redo();
  QTRY_COMPARE_WITH_TIMEOUT(editing(*tab).place(), 4, kPatienceMs);
  kill(window);
  QCOMPARE(left_journals(journals().toStdString()).front().state.workspace.history.place,
           std::size_t{4});
}

// Opens a capture or its workspace with unsaved work from a journal.
void WorkspaceTest::document_on_the_command_line_opens_once() {
  const QString path = folder_->filePath("work.jointer");
  for (const bool is_workspace : {false, true}) {
    auto window = make_window();
    DocumentTab* tab = open(*window, kCapture);
    if (is_workspace) save(*tab, path);
    edit(*tab);
    const History history = editing(*tab).history();
    kill(window);

    window = make_window();
    const QString asked = is_workspace ? path : QString(kCapture);
    window->restore_left({{.path = asked.toStdString()}});
    QCOMPARE(test::tab_count(*window), 0);
    tab = open(*window, asked);
    QTRY_VERIFY_WITH_TIMEOUT(bar(*window) != nullptr, kPatienceMs);
    QCOMPARE(test::tab_count(*window), 1);
    QVERIFY(editing(*tab).history() == history);
    QCOMPARE(autosave(*tab).path(), is_workspace ? path : QString());
    window.reset();
    QDir(journals()).removeRecursively();
  }
}

void WorkspaceTest::discards_restored_edits() {
  auto window = make_window();
  edit(*open(*window, kCapture));
  kill(window);
  window = make_window();
  QSignalSpy opened(window.get(), &MainWindow::opened);
  window->restore_left();
  QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), kPatienceMs);
  DocumentTab* tab = window->current_tab();
  QTRY_VERIFY_WITH_TIMEOUT(bar(*window) != nullptr, kPatienceMs);
  QTest::mouseClick(bar(*window)->findChild<QPushButton*>("discard"), Qt::LeftButton);
  QTRY_COMPARE_WITH_TIMEOUT(editing(*tab).entry_count(), 0, kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(!autosave(*tab).is_dirty(), kPatienceMs);
  QVERIFY(journal_files().isEmpty());
}

// The user opens the capture after a crash, or the next start reopens it.
void WorkspaceTest::estimates_are_restored_with_the_edits() {
  const auto device = [](const DocumentTab& tab) {
    return QString::fromStdString(tab.document()->analysis().options.estimator.device);
  };
  for (const bool is_reopened : {false, true}) {
    auto window = make_window();
    DocumentTab* tab = open(*window, kCapture);
    const QString before = device(*tab);
    QVERIFY(before != "b200");
    edit(*tab);
    AnalysisOptions options = tab->document()->wanted_options();
    options.estimator.device = "b200";
    tab->document()->analyze_with(options);
    QTRY_COMPARE_WITH_TIMEOUT(device(*tab), QString("b200"), kPatienceMs);
    const std::int64_t step_ns = tab->document()->analysis().simulation.step_ns();
    QTRY_COMPARE_WITH_TIMEOUT(
        read_journal(QDir(journals()).filePath(journal_files().front()).toStdString())
            ->workspace.options.device,
        std::string("b200"), kPatienceMs);
    kill(window);

    window = make_window();
    if (is_reopened) {
      QSignalSpy opened(window.get(), &MainWindow::opened);
      window->restore_left();
      QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), kPatienceMs);
      tab = window->current_tab();
    } else {
      tab = open(*window, kCapture);
    }
    QTRY_VERIFY_WITH_TIMEOUT(bar(*window) != nullptr, kPatienceMs);
    QCOMPARE(device(*tab), QString("b200"));
    QCOMPARE(tab->document()->analysis().simulation.step_ns(), step_ns);
    QTest::mouseClick(bar(*window)->findChild<QPushButton*>("discard"), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(editing(*tab).entry_count(), 0, kPatienceMs);
    QCOMPARE(device(*tab), before);
    window.reset();
    QDir(journals()).removeRecursively();
  }
}

void WorkspaceTest::estimates_without_edits_can_be_discarded() {
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  const std::string before = tab->document()->analysis().options.estimator.device;
  AnalysisOptions options = tab->document()->wanted_options();
  options.estimator.device = "b200";
  tab->document()->analyze_with(options);
  QTRY_VERIFY_WITH_TIMEOUT(autosave(*tab).is_dirty(), kPatienceMs);
  tab = reopen(window, kCapture);
  QTRY_VERIFY_WITH_TIMEOUT(bar(*window) != nullptr, kPatienceMs);
  QCOMPARE(tab->document()->analysis().options.estimator.device, std::string("b200"));
  const QString said = bar(*window)->findChild<WrappedText*>()->toPlainText();
  QVERIFY2(said.startsWith("Restored the estimate options of "), qPrintable(said));
  QTest::mouseClick(bar(*window)->findChild<QPushButton*>("discard"), Qt::LeftButton);
  QTRY_COMPARE_WITH_TIMEOUT(tab->document()->analysis().options.estimator.device, before,
                            kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(!autosave(*tab).is_dirty(), kPatienceMs);
}

// Opens a capture with a size symbol, its workspace, and the workspace with a journal.
void WorkspaceTest::given_options_override_saved_ones() {
  const QString capture = folder_->filePath("sized.json"), path = folder_->filePath("work.jointer");
  const auto graph = parse_literal("x: f32[u0,8] = input\ny: f32[u0,8] = aten.relu(x)\nreturn [y]");
  QVERIFY(graph.has_value());
  QVERIFY(write_bytes(capture.toStdString(), write_native(*graph)).has_value());
  const auto estimate_with = [](const DocumentTab& tab, const char* device, const char* sizes) {
    AnalysisOptions options = tab.document()->wanted_options();
    options.estimator.device = device;
    tab.document()->analyze_with(options, Assumptions::parse(sizes).value());
  };
  const auto estimated_with = [](const DocumentTab& tab) {
    return tab.document()->analysis().options.estimator.device + ' ' +
           tab.document()->graph().assumptions().text();
  };
  const auto open_with = [&](MainWindow& window) {
    QSignalSpy opened(&window, &MainWindow::opened);
    window.open_all(
        {{.path = path.toStdString(), .assumptions = Assumptions::parse("u0=5").value()}}, "a100");
    if (opened.isEmpty() && !opened.wait(kPatienceMs)) qFatal("it was not opened");
    QCoreApplication::processEvents();
    return window.current_tab();
  };
  auto window = make_window();
  DocumentTab* tab = open(*window, capture);
  estimate_with(*tab, "b200", "u0=3");
  QTRY_COMPARE_WITH_TIMEOUT(estimated_with(*tab), std::string("b200 u0=3"), kPatienceMs);
  save(*tab, path);
  window.reset();

  window = make_window();
  tab = open_with(*window);
  QTRY_COMPARE_WITH_TIMEOUT(estimated_with(*tab), std::string("a100 u0=5"), kPatienceMs);
  QVERIFY(!autosave(*tab).is_dirty());
  // The user's later changes stay.
  estimate_with(*tab, "h100", "u0=7");
  QTRY_COMPARE_WITH_TIMEOUT(estimated_with(*tab), std::string("h100 u0=7"), kPatienceMs);
  const Document* const replaced = tab->document();
  tab->load();
  QTRY_VERIFY_WITH_TIMEOUT(tab->document() != replaced && bar(*window) != nullptr, kPatienceMs);
  QCOMPARE(estimated_with(*tab), std::string("h100 u0=7"));
  window.reset();
  QCOMPARE(journal_files().size(), 1);

  window = make_window();
  tab = open_with(*window);
  QTRY_COMPARE_WITH_TIMEOUT(estimated_with(*tab), std::string("a100 u0=5"), kPatienceMs);
}

void WorkspaceTest::another_graph_than_the_workspaces_is_refused() {
  const QString path = folder_->filePath("work.jointer");
  auto window = make_window();
  save(*open(*window, kCapture), path);
  QString why;
  connect(window.get(), &MainWindow::open_failed, this,
          [&why](const DocumentTab* /*tab*/, const Error& error) {
            why = QString::fromStdString(error.message);
          });
  window->open({.path = path.toStdString(), .index = 1});
  QTRY_VERIFY_WITH_TIMEOUT(!why.isEmpty(), kPatienceMs);
  QVERIFY2(why.contains("--graph 1 cannot be used"), qPrintable(why));
  // The capture is where it was.
  QVERIFY(window->findChild<QMessageBox*>("ask_for_capture") == nullptr);
}

void WorkspaceTest::closing_loses_nothing() {
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  edit(*tab);
  const History history = editing(*tab).history();
  window.reset();
  QCOMPARE(journal_files().size(), 1);

  // The user closed it, so the next start does not reopen it; opening the graph does.
  window = make_window();
  window->restore_left();
  QCOMPARE(test::tab_count(*window), 0);
  tab = open(*window, kCapture);
  QTRY_VERIFY_WITH_TIMEOUT(bar(*window) != nullptr, kPatienceMs);
  QVERIFY(editing(*tab).history() == history);
}

void WorkspaceTest::reloading_loses_nothing() {
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  edit(*tab);
  const History history = editing(*tab).history();
  QSignalSpy opened(window.get(), &MainWindow::opened);
  QTest::keyClick(window.get(), Qt::Key_F5);
  QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(editing(*window->current_tab()).history() == history, kPatienceMs);
}

// The edits are saved while the graph is read, and the second save begins when the first one has
// ended.
void WorkspaceTest::reloading_waits_for_saves() {
  const QString first = folder_->filePath("first.jointer");
  const QString second = folder_->filePath("second.jointer");
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  edit(*tab);
  const History history = editing(*tab).history();
  QSignalSpy opened(window.get(), &MainWindow::opened);
  autosave(*tab).save(first, {});
  autosave(*tab).save(second, {});
  QTest::keyClick(window.get(), Qt::Key_F5);
  QTRY_VERIFY_WITH_TIMEOUT(!opened.isEmpty(), kPatienceMs);
  QVERIFY(QFile::exists(first));
  QVERIFY(QFile::exists(second));
  QTRY_VERIFY_WITH_TIMEOUT(editing(*window->current_tab()).history() == history, kPatienceMs);
  QCOMPARE(autosave(*window->current_tab()).path(), second);
  QVERIFY(!autosave(*window->current_tab()).is_dirty());
}

void WorkspaceTest::leaves_another_windows_journals_alone() {
  auto first = make_window();
  edit(*open(*first, kCapture));
  auto second = make_window();
  second->restore_left();
  QCOMPARE(test::tab_count(*second), 0);
  DocumentTab* tab = open(*second, kCapture);
  QVERIFY(bar(*second) == nullptr);
  QCOMPARE(editing(*tab).entry_count(), 0);
  QCOMPARE(journal_files().size(), 1);
}

void WorkspaceTest::skipped_edits_are_reported() {
  const QString path = folder_->filePath("work.jointer");
  Workspace workspace;
  workspace.title = "work";
  workspace.capture.path = kCapture.toStdString();
  workspace.capture.hash = "0";
  workspace.history.add(save_policy("no_such_node"));
  workspace.history.add(save_policy("primals_1"));
  QVERIFY(write_workspace(path.toStdString(), workspace).has_value());
  auto window = make_window();
  DocumentTab* tab = open(*window, path);
  QTRY_VERIFY_WITH_TIMEOUT(bar(*window) != nullptr, kPatienceMs);
  const QString said = bar(*window)->findChild<WrappedText*>()->toPlainText();
  QVERIFY2(said.contains("The capture has changed"), qPrintable(said));
  QVERIFY2(said.contains("no_such_node"), qPrintable(said));
  QCOMPARE(editing(*tab).entry_count(), 0);
}

// For example, on a full disk: here, a file is where the folder of journals should be.
void WorkspaceTest::a_stopped_autosave_stays_in_view() {
  QFile blocker(journals());
  QVERIFY(blocker.open(QFile::WriteOnly));
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  const auto* failures = window->findChild<MessageBar*>();
  QVERIFY(!failures->isVisible());
  edit(*tab);
  QTRY_VERIFY_WITH_TIMEOUT(failures->isVisible(), kPatienceMs);
  QVERIFY2(failures->text().contains("Autosave stopped"), qPrintable(failures->text()));
}

void WorkspaceTest::asks_for_a_moved_capture() {
  auto window = make_window();
  QMessageBox* box = ask_for(*window, {.path = folder_->filePath("none.json").toStdString()});
  QVERIFY(box != nullptr);
  box->reject();
}

// If the user cancels the choice of the backward graph, the forward graph is not opened alone.
void WorkspaceTest::a_moved_pair_needs_both_files() {
  auto window = make_window();
  QMessageBox* box =
      ask_for(*window, {.path = folder_->filePath("none.fw.json").toStdString(),
                        .backward = folder_->filePath("none.bw.json").toStdString()});
  QVERIFY(box != nullptr);
  const auto tabs = test::tab_count(*window);
  bool is_cancelled = false;
  QTimer answers;
  connect(&answers, &QTimer::timeout, this, [&] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (dialog == nullptr) return;
    if (dialog->windowTitle() == "Choose Backward Graph") {
      is_cancelled = true;
      return dialog->reject();
    }
    auto* edit = dialog->findChild<QLineEdit*>();
    edit->setText(kCapture);
    QTest::keyClick(edit, Qt::Key_Return);
  });
  answers.start(10);
  accept(*box);
  QVERIFY(is_cancelled);
  QCOMPARE(test::tab_count(*window), tabs);
}

void WorkspaceTest::only_the_missing_half_of_a_pair_is_asked_for() {
  auto window = make_window();
  QMessageBox* box =
      ask_for(*window, {.path = kCapture.toStdString(),
                        .backward = folder_->filePath("none.bw.json").toStdString()});
  QVERIFY(box != nullptr);
  QCOMPARE(box->text(),
           "work.jointer refers to a capture that has been moved or deleted. Where is none.bw.json "
           "now?");
  QStringList titles;
  QTimer answers;
  connect(&answers, &QTimer::timeout, this, [&] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    if (dialog == nullptr) return;
    titles << dialog->windowTitle();
    dialog->reject();
  });
  answers.start(10);
  accept(*box);
  QCOMPARE(titles, QStringList{"Choose Backward Graph"});
}

void WorkspaceTest::closing_asks_about_unsaved_edits() {
  auto window = make_window();
  edit(*open(*window, kCapture));
  press_close(*window);
  QVERIFY(question(*window) != nullptr);
  answer(*window, QMessageBox::Cancel);
  QCOMPARE(test::tab_count(*window), 1);
  QCOMPARE(journal_files().size(), 1);

  press_close(*window);
  answer(*window, QMessageBox::Discard);
  QTRY_COMPARE(test::tab_count(*window), 0);
  QTRY_VERIFY(journal_files().isEmpty());

  // Without unsaved edits there is no question.
  open(*window, kCapture);
  QVERIFY(bar(*window) == nullptr);
  press_close(*window);
  QVERIFY(question(*window) == nullptr);
  QCOMPARE(test::tab_count(*window), 0);
}

void WorkspaceTest::closing_saves_if_asked_to() {
  const QString path = folder_->filePath("work.jointer");
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  save(*tab, path);
  edit(*tab);
  const History history = editing(*tab).history();
  press_close(*window);
  answer(*window, QMessageBox::Save);
  QTRY_COMPARE_WITH_TIMEOUT(test::tab_count(*window), 0, kPatienceMs);
  QVERIFY(read_workspace(path.toStdString())->history == history);
  QTRY_VERIFY(journal_files().isEmpty());
}

void WorkspaceTest::closing_the_window_asks_too() {
  auto window = make_window();
  edit(*open(*window, kCapture));
  open(*window, QString(kCapture).replace("llama_debug_fsdp2", "llama_debug_tp2_fsdp2"));
  QVERIFY(!window->close());
  answer(*window, QMessageBox::Cancel);
  QVERIFY(window->isVisible());
  QVERIFY(!window->close());
  answer(*window, QMessageBox::Discard);
  QTRY_VERIFY(!window->isVisible());
}

// The second save begins when the first one has ended.
void WorkspaceTest::closing_waits_for_saves() {
  const QString first = folder_->filePath("first.jointer");
  const QString second = folder_->filePath("second.jointer");
  auto window = make_window();
  for (const bool closes_window : {false, true}) {
    DocumentTab* tab = open(*window, kCapture);
    window->activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(window.get()));
    autosave(*tab).save(first, {});
    autosave(*tab).save(second, {});
    if (closes_window)
      QVERIFY(!window->close());
    else
      QTest::keyClick(window.get(), Qt::Key_W, Qt::ControlModifier);
    QTRY_COMPARE_WITH_TIMEOUT(test::tab_count(*window), 0, kPatienceMs);
    QCOMPARE(window->isVisible(), !closes_window);
    QVERIFY(QFile::remove(first));
    QVERIFY(QFile::remove(second));
  }
}

void WorkspaceTest::marks_are_saved_and_restored() {
  const QString path = folder_->filePath("work.jointer");
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  QTest::keyClick(window.get(), Qt::Key_P);
  QTest::keyClick(window.get(), Qt::Key_M);
  const std::vector<MarkedMoment> marks = tab->document()->marks().all();
  QCOMPARE(marks.size(), std::size_t{1});
  QVERIFY(autosave(*tab).is_dirty());
  // Restored from the journal.
  tab = reopen(window, kCapture);
  QVERIFY(tab->document()->marks().all() == marks);
  QTRY_VERIFY_WITH_TIMEOUT(bar(*window) != nullptr, kPatienceMs);
  const QString said = bar(*window)->findChild<WrappedText*>()->toPlainText();
  QVERIFY2(said.startsWith("Restored 1 mark of "), qPrintable(said));
  // Restored from the workspace.
  save(*tab, path);
  QVERIFY(!autosave(*tab).is_dirty());
  tab = reopen(window, path);
  QVERIFY(tab->document()->marks().all() == marks);
  QVERIFY(!autosave(*tab).is_dirty());
}

void WorkspaceTest::closing_asks_about_moves_of_kernels() {
  const QString path = folder_->filePath("work.jointer");
  auto window = make_window();
  DocumentTab* tab = open(*window, kCapture);
  const QObject watcher;
  tab->document()->kernels().watch(watcher);
  QTRY_VERIFY_WITH_TIMEOUT(tab->document()->kernels().is_current(), kPatienceMs);
  KernelOrderEdits& order = tab->document()->kernel_order();
  bool is_moved = false;
  for (std::size_t row = 0; row < order.shown()->rows().size() && !is_moved; ++row)
    is_moved = order.move_far(row, KernelOrderEdits::Direction::earlier);
  QVERIFY(is_moved);
  const NamedKernelMoves moves = order.saved();
  tab->document()->kernels().stop_watching(watcher);
  press_close(*window);
  answer(*window, QMessageBox::Cancel);
  QVERIFY(autosave(*tab).is_dirty());
  // Restored from the journal.
  tab = reopen(window, kCapture);
  QTRY_VERIFY_WITH_TIMEOUT(tab->document()->kernel_order().saved() == moves, kPatienceMs);
  QTRY_VERIFY_WITH_TIMEOUT(bar(*window) != nullptr, kPatienceMs);
  const QString said = bar(*window)->findChild<WrappedText*>()->toPlainText();
  QVERIFY2(said.startsWith("Restored 1 kernel move of "), qPrintable(said));
  // Restored from the workspace.
  save(*tab, path);
  QVERIFY(!autosave(*tab).is_dirty());
  tab = reopen(window, path);
  QTRY_VERIFY_WITH_TIMEOUT(tab->document()->kernel_order().saved() == moves, kPatienceMs);
  QVERIFY(!autosave(*tab).is_dirty());
}

void WorkspaceTest::says_what_was_restored() {
  QCOMPARE(restored_text({}, "llama", 0), QString());
  QCOMPARE(restored_text({.edits = 1}, "llama", 0), QString("Restored 1 edit of llama."));
  QCOMPARE(restored_text({.undone = 2}, "llama", 0), QString("Restored 2 undone edits of llama."));
  QCOMPARE(restored_text({.edits = 3, .undone = 1, .marks = 2, .has_pipeline = true}, "llama", 0),
           QString("Restored 3 edits, 2 marks and the pipeline of llama."));
  QCOMPARE(restored_text({.marks = 1, .kernel_moves = 2}, "llama", 0),
           QString("Restored 1 mark and 2 kernel moves of llama."));
  QCOMPARE(restored_text({.marks = 1, .has_options = true, .has_assumptions = true}, "llama", 0),
           QString("Restored 1 mark, the estimate options and the assumptions of llama."));
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::WorkspaceTest, "workspace")
#include "workspace_test.moc"
