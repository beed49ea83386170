// Tests the desktop's benchmarks with real processes: fake ranks (tests/support/fake_rank.py) that
// are started, watched and stopped like real ones.

#include <signal.h>

#include <QElapsedTimer>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QRegularExpression>
#include <algorithm>

#include "app/desktop/local_benchmarks.h"
#include "core/graph/canonical.h"
#include "tests/gui/app_window.h"
#include "tests/gui/gui_test.h"
#include "views/session/edit/editing.h"

namespace jointer {
namespace {

using namespace views;
using desktop::LocalBenchmarks;

using test::kPatienceMs;

}  // namespace

class LocalBenchmarksTest : public test::AppWindow {
  Q_OBJECT

 private slots:
  void init();
  void cleanup() {
    close_window();
    local_.reset();
  }

  void runs_every_rank();
  void compares_the_edited_graph_with_the_opened_one();
  void reports_the_failed_rank_its_node_and_reason();
  void survives_a_crash_of_all_ranks();
  void cancels_a_run_that_hangs();
  void closing_the_window_ends_all_ranks();
  void reports_a_missing_runner();
  void names_its_own_controls();

 private:
  void script(const char* json) { qputenv("FAKE_RANKS", json); }
  [[nodiscard]] Benchmarks& benchmarks() const {
    return window_->current_tab()->session()->benchmarks();
  }
  void press_run() { QTest::keyClick(window_.get(), Qt::Key_R, Qt::ControlModifier); }
  // Ranks and their children that have reported and still run.
  [[nodiscard]] int processes() const;
  [[nodiscard]] int logged() const {
    return static_cast<int>(QDir(log_->path()).entryList({"*.json"}).size());
  }

  std::unique_ptr<QTemporaryDir> log_;
  std::unique_ptr<LocalBenchmarks> local_;
};

void LocalBenchmarksTest::init() {
  qputenv("JOINTER_RUNNER", test::source_path("tests/support/fake_rank.py").c_str());
  qunsetenv("FAKE_RANKS");
  make_folder();
  log_ = std::make_unique<QTemporaryDir>();
  qputenv("FAKE_LOG", log_->path().toUtf8());
  local_ = std::make_unique<LocalBenchmarks>();
  make_window(*local_);
  QVERIFY(open_file(test::source_path(test::kSample)));
  // Settings for all runs: the sample's own ranks, on the CPU.
  BenchmarkSettings settings = benchmarks().settings();
  QCOMPARE(benchmarks().world_size(), 4);
  settings.request.on = RunOn::cpu;
  benchmarks().set_settings(settings);
}

int LocalBenchmarksTest::processes() const {
  int alive = 0;
  for (const QString& name : QDir(log_->path()).entryList({"*.json"})) {
    QFile file(log_->filePath(name));
    if (!file.open(QFile::ReadOnly)) continue;
    for (const QJsonValue& pid : QJsonDocument::fromJson(file.readAll())["processes"].toArray())
      alive += ::kill(static_cast<pid_t>(pid.toInteger()), 0) == 0 ? 1 : 0;
  }
  return alive;
}

void LocalBenchmarksTest::runs_every_rank() {
  QSignalSpy progressed(&benchmarks(), &Benchmarks::progressed);
  press_run();
  QVERIFY(benchmarks().is_running());
  QTRY_VERIFY_WITH_TIMEOUT(!benchmarks().is_running(), kPatienceMs);
  QVERIFY(progressed.count() > 0);
  QCOMPARE(benchmarks().rows().size(), 1U);
  const BenchmarkResult& result = *benchmarks().rows().front().result;
  QVERIFY2(result.succeeded(), result.failure().c_str());
  QCOMPARE(result.ranks.size(), 4U);
  QCOMPARE(result.peak_bytes, std::int64_t{4096});
  QVERIFY(result.predicted.peak_bytes > 0);
  QVERIFY(!result.graph_hash.empty());
  QCOMPARE(window_->current_tab()->document()->measured()->measurement().step_ns,
           std::int64_t{2'000'000});
  QTRY_COMPARE(processes(), 0);
}

void LocalBenchmarksTest::compares_the_edited_graph_with_the_opened_one() {
  Document& document = *window_->current_tab()->document();
  const std::string opened = graph_hash(document.graph());
  // The last call, moved before one that does not have to precede it.
  const auto order = document.graph().order();
  std::size_t moved = order.size() - 2;
  while (std::ranges::count(document.graph().inputs(order[moved]), order[moved - 1]) > 0) --moved;
  document.editing().apply(
      {.title = "Move",
       .changes = {MoveNodes{.nodes = {std::string(document.graph().name(order[moved]))},
                             .before = std::string(document.graph().name(order[moved - 1]))}}});
  QTRY_VERIFY_WITH_TIMEOUT(document.editing().is_edited() && document.editing().is_settled(),
                           kPatienceMs);
  BenchmarkSettings settings = benchmarks().settings();
  settings.verify = true;
  benchmarks().set_settings(settings);
  press_run();
  QTRY_VERIFY_WITH_TIMEOUT(!benchmarks().is_running(), kPatienceMs);
  QCOMPARE(benchmarks().rows().size(), 1U);
  const BenchmarkResult& result = *benchmarks().rows().front().result;
  QVERIFY2(result.succeeded(), result.failure().c_str());
  QCOMPARE(result.graph_hash, graph_hash(document.graph()));
  QVERIFY(result.graph_hash != opened);
  QVERIFY(document.measured() != nullptr);
  // A rank received the edited graph, and the file as the baseline.
  QFile log(log_->filePath("0.json"));
  QVERIFY(log.open(QFile::ReadOnly));
  const QJsonArray given = QJsonDocument::fromJson(log.readAll())["arguments"].toArray();
  QStringList arguments;
  for (const QJsonValue& each : given) arguments << each.toString();
  QVERIFY(!arguments.filter(QRegularExpression("edited\\.json$")).isEmpty());
  QVERIFY(!arguments.filter(QFileInfo(test::kSample).fileName()).isEmpty());
  // After undo, the graph differs from the one that ran.
  document.editing().undo();
  QTRY_COMPARE_WITH_TIMEOUT(graph_hash(document.graph()), opened, kPatienceMs);
  benchmarks().show(benchmarks().rows().front().id);
  QVERIFY(benchmarks().message().contains("different state"));
}

void LocalBenchmarksTest::reports_the_failed_rank_its_node_and_reason() {
  script(R"({"1": [["started"], ["stage", "measure", 1, 10],
                   ["fail", "memory", "mm_3", "out of memory"], ["exit", 1]],
             "*": [["started"], ["hang"]]})");
  press_run();
  QTRY_VERIFY_WITH_TIMEOUT(!benchmarks().is_running(), kPatienceMs);
  QCOMPARE(benchmarks().rows().size(), 1U);
  QCOMPARE(benchmarks().rows().front().result->failure(),
           std::string("rank 1: at mm_3: out of memory"));
  QTRY_COMPARE(processes(), 0);
}

void LocalBenchmarksTest::survives_a_crash_of_all_ranks() {
  script(R"({"*": [["started"], ["stage", "inputs", 0, 1], ["kill", 11]]})");
  press_run();
  QTRY_VERIFY_WITH_TIMEOUT(!benchmarks().is_running(), kPatienceMs);
  QCOMPARE(benchmarks().rows().size(), 1U);
  QVERIFY(!benchmarks().rows().front().result->succeeded());
  QVERIFY(benchmarks().message().contains("signal"));
  // The window still works, and so does the next run.
  QTest::keyClick(window_->current_tab()->timeline(), Qt::Key_P);
  QVERIFY(window_->current_tab()->document()->selection().current());
  script("{}");
  press_run();
  QTRY_VERIFY_WITH_TIMEOUT(!benchmarks().is_running(), kPatienceMs);
  QVERIFY(benchmarks().rows().back().result->succeeded());
}

void LocalBenchmarksTest::cancels_a_run_that_hangs() {
  script(R"({"*": [["started"], ["stubborn"], ["grandchild"], ["hang"]]})");
  press_run();
  QTRY_COMPARE_WITH_TIMEOUT(logged(), 4, kPatienceMs);
  QTRY_COMPARE(processes(), 8);
  QElapsedTimer since;
  since.start();
  QTest::keyClick(window_.get(), Qt::Key_Period, Qt::ControlModifier);
  QVERIFY(benchmarks().is_cancelling());
  QVERIFY(since.elapsed() < 100);  // the window is responsive immediately
  QTRY_VERIFY_WITH_TIMEOUT(!benchmarks().is_running(), kPatienceMs);
  QVERIFY(benchmarks().message().startsWith("Cancelled after"));
  QVERIFY(benchmarks().rows().empty());
  QTRY_COMPARE(processes(), 0);
}

void LocalBenchmarksTest::closing_the_window_ends_all_ranks() {
  script(R"({"*": [["started"], ["hang"]]})");
  press_run();
  QTRY_COMPARE_WITH_TIMEOUT(logged(), 4, kPatienceMs);
  QCOMPARE(processes(), 4);
  window_.reset();
  local_.reset();
  QCOMPARE(processes(), 0);
}

void LocalBenchmarksTest::reports_a_missing_runner() {
  qputenv("JOINTER_RUNNER", "/nowhere/jointer-runner");
  press_run();
  QVERIFY(!benchmarks().is_running());
  QVERIFY2(benchmarks().message().contains("/nowhere/jointer-runner"),
           qPrintable(benchmarks().message()));
}

void LocalBenchmarksTest::names_its_own_controls() {
  BenchmarkSettings settings = benchmarks().settings();
  settings.request.ranks = 3;
  benchmarks().set_settings(settings);
  QSignalSpy failed(local_.get(), &LocalBenchmarks::failed);
  press_run();
  QVERIFY(!failed.isEmpty() || failed.wait(kPatienceMs));
  const QString why = failed.first().at(1).toString();
  QVERIFY2(why.contains("need 4 ranks, not 3; choose Single rank") && !why.contains("--"),
           qPrintable(why));
}

}  // namespace jointer

JOINTER_GUI_TEST(jointer::LocalBenchmarksTest, "local_benchmarks")
#include "local_benchmarks_test.moc"
