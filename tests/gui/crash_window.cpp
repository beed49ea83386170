// The real window, for tests/workspace/test_crash.py to kill at any moment.
//
//   crash_window write FOLDER SEED CAPTURE   opens the capture, edits, undoes, saves; never ends
//   crash_window read FOLDER                 starts again, and says what it has restored
//
// It says what crash_writer says: `at N DIGEST MILLISECONDS` once a state is on screen.

#include <openssl/evp.h>
#include <unistd.h>

#include <QApplication>
#include <QSettings>
#include <QTimer>
#include <array>
#include <cstdio>
#include <ctime>
#include <random>

#include "app/desktop/main_window.h"
#include "tests/support/fake_benchmarks.h"

namespace {

using namespace jointer;
using desktop::MainWindow;

constexpr int kPatienceMs = 30'000;

// Of what is done and kept. What was undone is left out: a step that takes its place would hide
// from `earlier` what was there before it.
std::string digest(History history) {
  history.steps.resize(history.place);
  OrderedJson json = OrderedJson::object();
  history_to_json(json, history);
  const std::string text = write_json(json);
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_sha256(), nullptr);
  return fmt::format("{:02x}", fmt::join(bytes.begin(), bytes.begin() + 16, ""));
}

// What a state may have been one step earlier: a step was added, undone, or a state was kept.
std::string earlier(const History& now) {
  std::string digests;
  if (now.place > 0 && now.place == now.steps.size()) {
    History before = now;
    --before.place;
    digests += ' ' + digest(before);
  }
  if (now.place < now.steps.size()) {
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

std::int64_t milliseconds() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

void say(const std::string& line) {
  const std::string whole = line + '\n';
  if (::write(STDOUT_FILENO, whole.data(), whole.size()) < 0) ::_exit(1);
}

class Hand : public QObject {
 public:
  Hand(views::Document& document, const QString& folder, unsigned seed)
      : editing_(document.editing()),
        keeper_(*document.findChild<views::Keeper*>()),
        path_(folder + "/work.jointer"),
        random_(seed) {
    const Graph& graph = document.graph();
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
  int below(int most) { return static_cast<int>(random_() % static_cast<unsigned>(most)); }

  void step() {
    const int choice = below(10);
    if (choice == 0) keeper_.save(path_, {});
    if (choice <= 2 && editing_.place() > 0) return editing_.undo();
    if (choice == 3) return editing_.keep_state(QString::number(number_));
    const std::string& node =
        calls_[static_cast<std::size_t>(below(static_cast<int>(calls_.size())))];
    editing_.apply({.title = "Save " + node,
                    .by = {},
                    .changes = {SetPolicy{.select = node, .policy = MemoryPolicy::must_save}},
                    .notes = {}});
  }

  views::Editing& editing_;
  views::Keeper& keeper_;
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
                         [&, tab] { new Hand(*tab->document(), folder, arguments[3].toUInt()); });
    });
    window.open({.path = arguments[4].toStdString()});
    return QApplication::exec();
  }
  // The journal, if there is one, else the workspace.
  const auto tell = [](views::DocumentTab* tab) {
    QObject::connect(tab->document()->findChild<views::Keeper*>(), &views::Keeper::restored, tab,
                     [tab](int, const QStringList& refused) {
                       if (!refused.isEmpty()) say(refused.join(u' ').toStdString());
                       const History now = tab->document()->editing().history();
                       say("restored " + digest(now) + earlier(now));
                       ::_exit(refused.isEmpty() ? 0 : 1);
                     });
  };
  QObject::connect(&window, &MainWindow::opened, tell);
  window.restore_left();
  if (window.tab_count() == 0) window.open({.path = (folder + "/work.jointer").toStdString()});
  return QApplication::exec();
}
