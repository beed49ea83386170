// The real window, which tests/workspace/test_crash.py kills at any moment.
//
//   crash_window write FOLDER SEED CAPTURE   opens the capture, edits, undoes, saves; never ends
//   crash_window read FOLDER                 starts again and prints what it has restored
//
// Its output is that of crash_writer: `at N DIGEST MILLISECONDS` once a state is on screen.

#include <fmt/format.h>

#include <unistd.h>

#include <QApplication>
#include <QSettings>
#include <QTabBar>
#include <QTimer>
#include <random>

#include "app/desktop/main_window.h"
#include "tests/support/child.h"
#include "tests/support/crash_log.h"
#include "tests/support/fake_benchmarks.h"
#include "views/session/edit/editing.h"
#include "views/session/workspace/autosave.h"

namespace {

using namespace jointer;
using desktop::MainWindow;
using test::milliseconds;
using test::say;

constexpr int kPatienceMs = 30'000;

// Digest of applied edits and named states. Undone edits are excluded, since an edit that replaces
// them would hide the state before it from `earlier`.
std::string digest(History history) {
  history.entries.resize(history.place);
  return test::digest(history);
}

// The states that could have preceded a state: a step was added or undone, or a state was named.
std::string earlier(const History& now) {
  std::string digests;
  if (now.place > 0 && now.place == now.entries.size()) {
    History before = now;
    --before.place;
    digests += ' ' + digest(before);
  }
  if (now.place < now.entries.size()) {
    History before = now;
    ++before.place;
    digests += ' ' + digest(before);
  }
  if (!now.states.empty()) {
    History before = now;
    before.states.pop_back();
    digests += ' ' + digest(before);
  }
  return digests;
}

class Hand : public QObject {
 public:
  Hand(views::Session& session, const QString& folder, unsigned seed)
      : editing_(session.document().editing()),
        autosave_(session.autosave()),
        path_(folder + "/work.jointer"),
        random_(seed) {
    const Graph& graph = session.document().graph();
    for (const NodeId id : graph.order())
      if (graph.node(id).kind == NodeKind::call) calls_.emplace_back(graph.name(id));
    connect(&editing_, &views::Editing::changed, this, [this] {
      say(fmt::format("at {} {} {}", ++number_, digest(editing_.history()), milliseconds()));
      if (editing_.is_settled()) QTimer::singleShot(below(20), this, [this] { step(); });
    });
    say(fmt::format("at 0 {} {}", digest(editing_.history()), milliseconds()));
    step();
  }

 private:
  int below(int max) { return static_cast<int>(random_() % static_cast<unsigned>(max)); }

  void step() {
    const int choice = below(10);
    if (choice == 0) autosave_.save(path_, {});
    if (choice <= 2 && editing_.place() > 0) return editing_.undo();
    if (choice == 3) return editing_.keep_state(QString::number(number_));
    const std::string& node =
        calls_[static_cast<std::size_t>(below(static_cast<int>(calls_.size())))];
    editing_.apply({.title = "Save " + node,
                    .changes = {SetPolicy{.select = node, .policy = MemoryPolicy::must_save}}});
  }

  views::Editing& editing_;
  views::Autosave& autosave_;
  QString path_;
  std::mt19937_64 random_;
  std::vector<std::string> calls_;
  std::size_t number_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  const QStringList arguments = QApplication::arguments();
  if (arguments.size() < 3) return 2;
  const QString folder = arguments[2];
  QSettings settings(folder + "/settings.ini", QSettings::IniFormat);
  test::FakeBenchmarks service;
  MainWindow window(settings, AnalysisOptions{}, service, BenchmarkHistory(folder.toStdString()));
  window.set_journal_folder(folder + "/journals");
  window.show();
  QTimer::singleShot(kPatienceMs, [] {
    say("it takes too long");
    ::_exit(4);
  });
  if (arguments[1] == "write" && arguments.size() == 5) {
    QObject::connect(&window, &MainWindow::opened, [&](views::DocumentTab* tab) {
      QTimer::singleShot(0, tab,
                         [&, tab] { new Hand(*tab->session(), folder, arguments[3].toUInt()); });
    });
    window.open({.path = arguments[4].toStdString()});
    return QApplication::exec();
  }
  // The journal if there is one, or else the workspace.
  const auto tell = [](views::DocumentTab* tab) {
    QObject::connect(&tab->session()->autosave(), &views::Autosave::restored, tab,
                     [tab](int, const QStringList& refused) {
                       if (!refused.isEmpty()) say(refused.join(u' ').toStdString());
                       const History now = tab->document()->editing().history();
                       say("restored " + digest(now) + earlier(now));
                       ::_exit(refused.isEmpty() ? 0 : 1);
                     });
  };
  QObject::connect(&window, &MainWindow::opened, tell);
  window.restore_left();
  if (test::child<QTabBar>(window, "documents").count() == 0)
    window.open({.path = (folder + "/work.jointer").toStdString()});
  return QApplication::exec();
}
