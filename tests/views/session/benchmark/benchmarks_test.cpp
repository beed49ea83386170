// Tests a document's benchmarks without a window: fake runs and stored rows.

#include "views/session/benchmark/benchmarks.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <fstream>

#include "core/base/bytes.h"
#include "core/graph/canonical.h"
#include "tests/support/fake_benchmarks.h"
#include "tests/support/held_pool.h"
#include "tests/support/paths.h"
#include "tests/support/snapshots.h"
#include "views/session/edit/editing.h"

namespace jointer::views {
namespace {

class BenchmarksOfADocument : public testing::Test {
 protected:
  BenchmarksOfADocument() { make(); }
  ~BenchmarksOfADocument() override { settle(); }

  void make() {
    document = std::make_unique<Document>(OpenRequest{.path = "/tmp/a graph.json"}, snapshot);
    benchmarks = new Benchmarks(*document, fake, BenchmarkHistory(folder.path().toStdString()),
                                document.get());
  }
  // Simulates a restart.
  void make_again() {
    settle();
    make();
    benchmarks->load();
    settle();
  }
  void settle() const {
    EXPECT_TRUE(QTest::qWaitFor([this] { return benchmarks->is_settled(); }));
  }
  void run_well() {
    benchmarks->run();
    fake.finish(fake.measured(2));
  }

  QTemporaryDir folder;
  SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
  test::FakeBenchmarks fake;
  std::unique_ptr<Document> document;
  Benchmarks* benchmarks = nullptr;
};

TEST_F(BenchmarksOfADocument, NeedAFile) {
  Document piped(OpenRequest{.path = "-"}, snapshot);
  const Benchmarks of_piped(piped, fake, BenchmarkHistory(folder.path().toStdString()));
  EXPECT_TRUE(of_piped.why_not().startsWith("The graph cannot be benchmarked: "))
      << of_piped.why_not().toStdString();
}

TEST_F(BenchmarksOfADocument, RequestTheChosenSettings) {
  EXPECT_EQ(benchmarks->world_size(), 2);
  BenchmarkSettings settings = benchmarks->settings();
  settings.request.iterations = 7;
  settings.request.backend = Backend::inductor;
  benchmarks->set_settings(settings);
  benchmarks->run();
  const BenchmarkRequest& asked = fake.job().request;
  EXPECT_EQ(asked.iterations, 7);
  EXPECT_EQ(asked.backend, Backend::inductor);
  EXPECT_EQ(asked.program.graph, "/tmp/a graph.json");
  EXPECT_EQ(asked.baseline.graph, asked.program.graph);
  EXPECT_TRUE(asked.profile);
  EXPECT_EQ(fake.job().snapshot, snapshot);
}

TEST_F(BenchmarksOfADocument, AResultAddsARowAndShowsItsMeasurement) {
  QSignalSpy shown(benchmarks, &Benchmarks::row_shown);
  benchmarks->run();
  EXPECT_TRUE(benchmarks->is_running());
  fake.progress(fake.begun(2));
  EXPECT_EQ(benchmarks->so_far().ranks.size(), 2U);
  fake.finish(fake.measured(2));
  EXPECT_FALSE(benchmarks->is_running());
  ASSERT_EQ(benchmarks->rows().size(), 1U);
  EXPECT_EQ(shown.count(), 1);
  EXPECT_EQ(benchmarks->shown(), benchmarks->rows().front().id);
  ASSERT_NE(document->measured(), nullptr);
  EXPECT_EQ(document->measured()->measurement().label, "rank 0, interpret");
  EXPECT_EQ(document->measurements().size(), 2U);
  EXPECT_EQ(document->measured()->peak_bytes(), snapshot->analysis.memory.peak_bytes() + 4096);
}

TEST_F(BenchmarksOfADocument, AFailureAddsARowAndKeepsTheShownMeasurement) {
  run_well();
  const MeasuredTimeline* shown = document->measured();
  benchmarks->run();
  BenchmarkResult result = fake.begun(2);
  result.ranks[1].apply(RankFailed{"memory", "mm_1", "out of memory"});
  result.ranks[1].status = RankResult::Status::failed;
  result.ranks[0].status = RankResult::Status::stopped;
  fake.finish(result);
  ASSERT_EQ(benchmarks->rows().size(), 2U);
  EXPECT_TRUE(benchmarks->message().contains("rank 1: at mm_1: out of memory"));
  EXPECT_TRUE(benchmarks->message_is_error());
  EXPECT_EQ(document->measured(), shown);
}

// A run whose second rank ran out of memory at mm_1 and wrote this snapshot.
BenchmarkResult out_of_memory(const test::FakeBenchmarks& fake, const std::string& path) {
  BenchmarkResult result = fake.begun(2);
  result.ranks[1].apply(RankFailed{"memory", "mm_1", "CUDA out of memory", path});
  result.ranks[1].status = RankResult::Status::failed;
  result.ranks[0].status = RankResult::Status::stopped;
  return result;
}

TEST_F(BenchmarksOfADocument, AMemorySnapshotIsShownAtTheNodeThatNeededMemory) {
  benchmarks->run();
  fake.finish(
      out_of_memory(fake, test::source_path("tests/fuzz/corpus/memory_snapshot/protocol4.pickle")));
  EXPECT_EQ(document->measured(), nullptr);
  const std::uint64_t id = benchmarks->rows().front().id;
  benchmarks->show_snapshot(id);
  ASSERT_TRUE(QTest::qWaitFor([&] { return document->measured() != nullptr; }));
  EXPECT_EQ(document->measured()->measurement().label, "protocol4.pickle");
  const NodeId node = document->graph().find("mm_1");
  EXPECT_EQ(document->selection().current(), node);
  EXPECT_EQ(document->selection().moment(), document->moment_of(node));
  EXPECT_TRUE(benchmarks->message().contains("rank 1"));
  EXPECT_TRUE(benchmarks->message().contains("mm_1"));
  EXPECT_FALSE(benchmarks->message_is_error());
  // It is not read twice.
  document->selection().clear();
  benchmarks->show_snapshot(id);
  EXPECT_EQ(document->measurements().size(), 1U);
  EXPECT_EQ(document->selection().current(), node);
}

TEST_F(BenchmarksOfADocument, AMemorySnapshotThatWasRemovedIsAMessage) {
  benchmarks->run();
  fake.finish(out_of_memory(fake, folder.filePath("gone.pickle").toStdString()));
  benchmarks->show_snapshot(benchmarks->rows().front().id);
  ASSERT_TRUE(QTest::qWaitFor(
      [&] { return benchmarks->message().startsWith("Could not read the memory snapshot: "); }));
  EXPECT_TRUE(benchmarks->message().contains("gone.pickle"));
  EXPECT_TRUE(benchmarks->message_is_error());
  EXPECT_EQ(document->measured(), nullptr);
  run_well();
  benchmarks->show_snapshot(benchmarks->rows().back().id);  // it has none
  EXPECT_TRUE(benchmarks->message().startsWith("Done in"));
}

TEST_F(BenchmarksOfADocument, CancellingEndsTheRunWithoutARow) {
  benchmarks->run();
  benchmarks->cancel();
  EXPECT_TRUE(benchmarks->is_cancelling());
  EXPECT_EQ(fake.cancelled(), fake.run());
  fake.finish(fake.begun(2), /*was_cancelled=*/true);
  EXPECT_FALSE(benchmarks->is_running());
  EXPECT_TRUE(benchmarks->rows().empty());
  EXPECT_TRUE(benchmarks->message().startsWith("Cancelled after"));
  EXPECT_FALSE(benchmarks->message_is_error());
}

TEST_F(BenchmarksOfADocument, SayWhyARunCannotStart) {
  benchmarks->run();
  fake.refuse("jointer-runner was not found");
  EXPECT_FALSE(benchmarks->is_running());
  EXPECT_EQ(benchmarks->message(), "jointer-runner was not found");
  BenchmarkSettings settings = benchmarks->settings();
  settings.request.backend = Backend::cudagraph;
  benchmarks->set_settings(settings);
  EXPECT_TRUE(benchmarks->why_not().contains("CUDA"));
  const quint64 before = fake.run();
  benchmarks->run();
  EXPECT_EQ(fake.run(), before);
}

TEST_F(BenchmarksOfADocument, AskBeforeTheyStartWhatDoesNotFit) {
  QSignalSpy asked(benchmarks, &Benchmarks::question_changed);
  benchmarks->run();
  EXPECT_FALSE(fake.job().any_size);
  fake.find_too_large("Each of the 2 ranks needs 8 GiB.");
  EXPECT_FALSE(benchmarks->is_running());
  EXPECT_TRUE(benchmarks->rows().empty());
  EXPECT_EQ(benchmarks->question(), "Each of the 2 ranks needs 8 GiB.");
  EXPECT_EQ(asked.count(), 1);
  benchmarks->start_anyway();
  EXPECT_TRUE(benchmarks->is_running());
  EXPECT_TRUE(fake.job().any_size);
  EXPECT_TRUE(benchmarks->question().isEmpty());
  fake.finish(fake.measured(2));
  // Without a question there is nothing to answer, and the next run asks again.
  const quint64 before = fake.run();
  benchmarks->start_anyway();
  EXPECT_EQ(fake.run(), before);
  benchmarks->run();
  EXPECT_FALSE(fake.job().any_size);
  fake.find_too_large("Each of the 2 ranks needs 8 GiB.");
  benchmarks->drop_question();
  EXPECT_TRUE(benchmarks->question().isEmpty());
}

TEST_F(BenchmarksOfADocument, RunOneAtATime) {
  Document other(OpenRequest{.path = "b.json"}, snapshot);
  auto* others = new Benchmarks(other, fake, BenchmarkHistory(folder.path().toStdString()), &other);
  others->run();
  EXPECT_TRUE(benchmarks->why_not().contains(other.title()));
  benchmarks->run();
  EXPECT_FALSE(benchmarks->is_running());
  // Reports of another document's run are ignored.
  fake.finish(fake.measured(2));
  EXPECT_TRUE(benchmarks->rows().empty());
  EXPECT_EQ(others->rows().size(), 1U);
  EXPECT_EQ(benchmarks->why_not(), "");
}

TEST_F(BenchmarksOfADocument, ClosingADocumentEndsItsRun) {
  benchmarks->run();
  const quint64 run = fake.run();
  document.reset();
  EXPECT_EQ(fake.cancelled(), run);
  fake.finish(fake.begun(2), true);  // there is no receiver left
  make();
}

TEST_F(BenchmarksOfADocument, RowsSurviveARestart) {
  run_well();
  make_again();
  ASSERT_EQ(benchmarks->rows().size(), 1U);
  EXPECT_EQ(document->measured(), nullptr);
  benchmarks->show(benchmarks->rows().front().id);
  ASSERT_NE(document->measured(), nullptr);
  EXPECT_FALSE(document->measured()->measurement().nodes.empty());
  // A run that ends before stored results are loaded comes after them.
  settle();
  make();
  run_well();
  make_again();
  EXPECT_EQ(benchmarks->rows().size(), 2U);
}

TEST_F(BenchmarksOfADocument, RemovedRowsAreGone) {
  run_well();
  run_well();
  const MeasuredTimeline* shown = document->measured();
  benchmarks->remove({benchmarks->rows().front().id});
  EXPECT_EQ(benchmarks->rows().size(), 1U);
  EXPECT_EQ(document->measured(), shown);
  EXPECT_EQ(benchmarks->shown(), benchmarks->rows().front().id);
  run_well();
  benchmarks->remove({benchmarks->shown()});
  EXPECT_EQ(benchmarks->rows().size(), 1U);
  EXPECT_EQ(document->measured(), nullptr);
  EXPECT_EQ(benchmarks->shown(), 0U);
  make_again();
  EXPECT_EQ(benchmarks->rows().size(), 1U);
}

TEST_F(BenchmarksOfADocument, ADamagedFileIsReportedAndMovedAside) {
  const BenchmarkHistory history(folder.path().toStdString());
  const QString path = QString::fromStdString(history.path_of(graph_hash(snapshot->graph)));
  std::ofstream(path.toStdString()) << "no result\n";
  benchmarks->load();
  EXPECT_TRUE(QTest::qWaitFor([this] { return !benchmarks->message().isEmpty(); }));
  EXPECT_TRUE(benchmarks->message().contains(".damaged"));
  EXPECT_TRUE(QFile::exists(path + ".damaged"));
  run_well();
  make_again();
  EXPECT_EQ(benchmarks->rows().size(), 1U);
}

TEST_F(BenchmarksOfADocument, AFileOfANewerJointerIsReportedAndKept) {
  const BenchmarkHistory history(folder.path().toStdString());
  const std::string path = history.path_of(graph_hash(snapshot->graph));
  const std::string text = "{\"version\":1000,\"more\":0}\n";
  std::ofstream(path) << text;
  benchmarks->load();
  EXPECT_TRUE(QTest::qWaitFor([this] { return !benchmarks->message().isEmpty(); }));
  EXPECT_TRUE(benchmarks->message().contains("cannot read")) << benchmarks->message().toStdString();
  run_well();
  EXPECT_TRUE(
      QTest::qWaitFor([this] { return benchmarks->message().contains("rename the file"); }));
  EXPECT_EQ(read_bytes(path)->view(), text);
}

class BenchmarksOfAnEditedDocument : public BenchmarksOfADocument {
 protected:
  void SetUp() override {
    run_well();
    settle();
    document->editing().apply(
        {.title = "Move", .changes = {MoveNodes{.nodes = {"t0"}, .before = "g1"}}});
    settle_edits();
    ASSERT_TRUE(document->editing().is_edited());
  }
  void settle_edits() const {
    EXPECT_TRUE(QTest::qWaitFor([this] { return document->editing().is_settled(); }));
  }
  [[nodiscard]] bool says_different() const {
    return benchmarks->message().contains("different state");
  }
};

// The pool is held, so an answer at once would have been computed on this thread.
TEST_F(BenchmarksOfAnEditedDocument, AreComparedWithItOnAnotherThread) {
  QSignalSpy found(benchmarks, &Benchmarks::hash_found);
  test::HeldPool pool;
  benchmarks->show(benchmarks->rows().front().id);
  EXPECT_EQ(benchmarks->shown(), benchmarks->rows().front().id);
  EXPECT_FALSE(benchmarks->ran_shown_graph(*benchmarks->rows().front().result).has_value());
  EXPECT_FALSE(says_different());
  EXPECT_FALSE(benchmarks->is_settled());
  pool.run_started();
  EXPECT_TRUE(QTest::qWaitFor([this] { return says_different(); }));
  EXPECT_EQ(found.count(), 1);
  EXPECT_EQ(benchmarks->ran_shown_graph(*benchmarks->rows().front().result), false);
}

TEST_F(BenchmarksOfAnEditedDocument, AreComparedWithTheGraphAfterAnUndo) {
  QSignalSpy changed(document.get(), &Document::measurement_changed);
  test::HeldPool pool;
  document->editing().undo();
  benchmarks->show(benchmarks->rows().front().id);  // the graph is still the edited one
  for (int i = 0; i < 10; ++i) {
    pool.run_started();
    QCoreApplication::processEvents();
  }
  EXPECT_FALSE(document->editing().is_edited());
  EXPECT_FALSE(says_different());
  EXPECT_GE(changed.count(), 1);
  ASSERT_NE(document->measured(), nullptr);
  EXPECT_EQ(document->measured()->measurement().label, "rank 0, interpret");
}

// A run that ends has the hash of its graph.
TEST_F(BenchmarksOfAnEditedDocument, ANewRunIsShownAtOnce) {
  const test::HeldPool pool;
  run_well();
  EXPECT_EQ(benchmarks->ran_shown_graph(*benchmarks->rows().back().result), true);
  EXPECT_FALSE(says_different());
}

// A run that failed has no measurement, so the edit made during the run does not matter.
TEST_F(BenchmarksOfAnEditedDocument, AFailureDuringWhichTheGraphWasEditedIsReported) {
  benchmarks->run();
  BenchmarkResult result = fake.begun(1);
  result.ranks[0].apply(RankFailed{"memory", "mm_1", "out of memory"});
  result.ranks[0].status = RankResult::Status::failed;
  result.conclude(fake.job().snapshot->graph, fake.job().snapshot->analysis);
  document->editing().undo();
  settle_edits();
  fake.finish(result);
  settle();
  EXPECT_FALSE(says_different());
  EXPECT_TRUE(benchmarks->message().startsWith("Failed after "))
      << benchmarks->message().toStdString();
  EXPECT_TRUE(benchmarks->message_is_error());
}

TEST_F(BenchmarksOfADocument, CalibratingProfilesAndReportsTheTimes) {
  QSignalSpy calibrated(benchmarks, &Benchmarks::calibrated);
  BenchmarkSettings settings = benchmarks->settings();
  settings.request.profile = false;
  benchmarks->set_settings(settings);
  benchmarks->calibrate();
  EXPECT_TRUE(fake.job().request.profile);
  fake.finish(fake.measured(2));
  ASSERT_EQ(calibrated.count(), 1);
  EXPECT_FALSE(calibrated.front().front().value<MeasurementPtr>()->nodes.empty());
  // An ordinary run does not update the costs.
  run_well();
  EXPECT_EQ(calibrated.count(), 1);
}

}  // namespace
}  // namespace jointer::views
