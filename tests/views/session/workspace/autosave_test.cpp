// Tests saving while other parts of the session write their files.

#include "views/session/workspace/autosave.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <memory>
#include <vector>

#include "tests/support/fake_benchmarks.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/patience.h"
#include "tests/support/snapshots.h"
#include "views/session/kernels/kernel_order_edits.h"
#include "views/session/kernels/predicted_kernels.h"

namespace jointer::views {
namespace {

class AutosaveTest : public testing::Test {
 protected:
  const QTemporaryDir folder;
  test::FakeBenchmarks service;
  Document document{OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::kSmallStep)};
  Benchmarks benchmarks{document, service, BenchmarkHistory(folder.path().toStdString())};
};

TEST_F(AutosaveTest, SavesWhileBenchmarkResultsAreWritten) {
  benchmarks.load();
  ASSERT_TRUE(QTest::qWaitFor([&] { return benchmarks.is_settled(); }));
  Autosave autosave(document, benchmarks, {});
  benchmarks.run();
  service.finish(service.measured(2));
  ASSERT_FALSE(benchmarks.is_settled()) << "the results are being written";
  const QSignalSpy saved(&autosave, &Autosave::saved), failed(&autosave, &Autosave::failed);
  autosave.save(folder.filePath(QStringLiteral("graph.jointer")), {});
  EXPECT_TRUE(QTest::qWaitFor([&] { return saved.count() + failed.count() > 0; }));
  EXPECT_EQ(saved.count(), 1);
}

// A save ends when this thread processes events.
TEST_F(AutosaveTest, SavesRequestedDuringASaveFollow) {
  Autosave autosave(document, benchmarks, {});
  const auto path = [&](const char* name) { return folder.filePath(QString::fromLatin1(name)); };
  const QSignalSpy saved(&autosave, &Autosave::saved), failed(&autosave, &Autosave::failed);
  autosave.save(path("a.jointer"), {});
  autosave.save(path("b.jointer"), {});
  autosave.save(path("none/c.jointer"), {});
  autosave.save(path("d.jointer"), {});
  autosave.save(path("b.jointer"), "layout");
  EXPECT_EQ(autosave.path(), QString());
  EXPECT_EQ(autosave.next_path(), path("b.jointer"));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !autosave.is_saving(); }));
  QStringList files;
  for (const QList<QVariant>& arguments : saved) files << arguments.front().toString();
  EXPECT_EQ(files, (QStringList{path("a.jointer"), path("d.jointer"), path("b.jointer")}));
  EXPECT_EQ(failed.count(), 1) << "the folder of c does not exist";
  EXPECT_EQ(autosave.path(), path("b.jointer"));
  EXPECT_EQ(autosave.next_path(), path("b.jointer"));
  EXPECT_TRUE(QFile::exists(path("a.jointer")));
  const auto last = read_workspace(path("b.jointer").toStdString());
  ASSERT_TRUE(last.has_value());
  EXPECT_EQ(QByteArray::fromBase64(QByteArray::fromStdString(last->layout)), "layout");
}

// Another window may have taken over the journal.
TEST_F(AutosaveTest, SaysWhyAJournalIsNotRestored) {
  Autosave autosave(document, benchmarks, {});
  const QSignalSpy restored(&autosave, &Autosave::restored);
  const QSignalSpy failed(&autosave, &Autosave::restore_failed);
  autosave.restore({.journal = folder.filePath(QStringLiteral("no"))});
  EXPECT_EQ(restored.count(), 0);
  EXPECT_EQ(failed.count(), 1);
}

// The workspace has an option that the user changed before the journal was left.
TEST_F(AutosaveTest, DiscardingBringsBackTheOptionsOfTheEstimates) {
  Autosave autosave(document, benchmarks, {});
  const AnalysisOptions as_opened = document.analysis().options;
  const auto optimizer = [&] { return document.analysis().options.memory.optimizer; };
  const auto estimate_with = [&](OptimizerState state) {
    AnalysisOptions options = document.analysis().options;
    options.memory.optimizer = state;
    document.analyze_with(options);
    return QTest::qWaitFor([&] { return optimizer() == state; }, test::kPatienceMs);
  };
  const auto discard = [&] {
    const QSignalSpy restored(&autosave, &Autosave::restored);
    autosave.discard(as_opened, {});
    return QTest::qWaitFor([&] { return restored.count() == 1; }, test::kPatienceMs);
  };
  ASSERT_EQ(optimizer(), OptimizerState::none);
  ASSERT_TRUE(estimate_with(OptimizerState::adamw));
  EXPECT_TRUE(autosave.is_dirty());
  ASSERT_TRUE(discard());
  EXPECT_EQ(optimizer(), OptimizerState::none) << "as the graph was opened";
  EXPECT_FALSE(autosave.is_dirty());

  ASSERT_TRUE(estimate_with(OptimizerState::adamw));
  const QSignalSpy saved(&autosave, &Autosave::saved);
  autosave.save(folder.filePath(QStringLiteral("graph.jointer")), {});
  ASSERT_TRUE(QTest::qWaitFor([&] { return saved.count() == 1; }, test::kPatienceMs));
  ASSERT_TRUE(estimate_with(OptimizerState::none));
  EXPECT_TRUE(autosave.is_dirty());
  ASSERT_TRUE(discard());
  EXPECT_EQ(optimizer(), OptimizerState::adamw) << "as in the workspace";
  EXPECT_FALSE(autosave.is_dirty());
}

// A document whose sizes are assumed, with a journal.
class AutosaveOfEstimates : public testing::Test {
 protected:
  struct Open {
    Open(const SnapshotPtr& snapshot, test::FakeBenchmarks& service, const QTemporaryDir& folder)
        : document(OpenRequest{.path = "/tmp/graph.json"}, snapshot),
          benchmarks(document, service, BenchmarkHistory(folder.path().toStdString())),
          autosave(document, benchmarks, folder.filePath(QStringLiteral("journals"))) {}

    [[nodiscard]] std::string sizes() const { return document.graph().assumptions().text(); }
    [[nodiscard]] std::string device() const {
      return document.analysis().options.estimator.device;
    }
    [[nodiscard]] bool estimate_with(const std::string& device, const std::string& sizes) {
      AnalysisOptions options = document.analysis().options;
      options.estimator.device = device;
      document.analyze_with(options, Assumptions::parse(sizes).value());
      return has(device, sizes);
    }
    [[nodiscard]] bool has(const std::string& device, const std::string& sizes) const {
      return QTest::qWaitFor([&] { return this->device() == device && this->sizes() == sizes; },
                             test::kPatienceMs);
    }

    Document document;
    Benchmarks benchmarks;
    Autosave autosave;
  };

  std::unique_ptr<Open> open() {
    return std::make_unique<Open>(
        test::snapshot_of("x: f32[u0,8] = input\ny: f32[u0,8] = aten.relu(x)\nreturn [y]"),
        service_, folder_);
  }
  // The only journal left.
  [[nodiscard]] SavedWork left() const {
    const std::vector<LeftJournal> all =
        left_journals(folder_.filePath(QStringLiteral("journals")).toStdString());
    EXPECT_EQ(all.size(), 1U);
    if (all.empty()) return {};
    return {.workspace = all[0].state.workspace, .journal = QString::fromStdString(all[0].path)};
  }
  static bool restore(Autosave& autosave, const SavedWork& found) {
    const QSignalSpy restored(&autosave, &Autosave::restored);
    autosave.restore(found);
    return QTest::qWaitFor([&] { return restored.count() == 1; }, test::kPatienceMs);
  }

  QTemporaryDir folder_;
  test::FakeBenchmarks service_;
};

TEST_F(AutosaveOfEstimates, TheJournalFollowsOptionsAndAssumptions) {
  auto first = open();
  ASSERT_TRUE(first->estimate_with("b200", "u0=3"));
  EXPECT_TRUE(first->autosave.is_dirty());
  // Later changes follow too.
  ASSERT_TRUE(first->estimate_with("a100", "u0=5"));
  first.reset();
  const SavedWork found = left();
  EXPECT_EQ(found.workspace.options.device, "a100");
  EXPECT_EQ(found.workspace.capture.assume, "u0=5");
}

// A graph can be opened before its journal is found, and with other options.
TEST_F(AutosaveOfEstimates, RestoringBringsBackOptionsAndAssumptions) {
  auto first = open();
  const AnalysisOptions as_opened = first->document.analysis().options;
  ASSERT_TRUE(first->estimate_with("b200", "u0=3"));
  first.reset();
  const SavedWork found = left();
  const auto again = open();
  ASSERT_NE(again->device(), "b200");
  ASSERT_TRUE(restore(again->autosave, found));
  EXPECT_EQ(again->device(), "b200");
  EXPECT_EQ(again->sizes(), "u0=3");
  EXPECT_TRUE(again->autosave.is_dirty());
  // The graph was not necessarily saved with the options that it was opened with.
  ASSERT_TRUE(again->estimate_with(as_opened.estimator.device, ""));
  EXPECT_TRUE(again->autosave.is_dirty());
  ASSERT_TRUE(again->estimate_with("b200", "u0=3"));
  const QSignalSpy restored(&again->autosave, &Autosave::restored);
  again->autosave.discard(as_opened, {});
  ASSERT_TRUE(QTest::qWaitFor([&] { return restored.count() == 1; }, test::kPatienceMs));
  EXPECT_TRUE(again->has(as_opened.estimator.device, ""));
  EXPECT_FALSE(again->autosave.is_dirty());
}

// The edits of another request may still be pending.
TEST_F(AutosaveOfEstimates, RestoringIsToldFromOtherEdits) {
  const auto tagged = [](MemoryPolicy policy) {
    return Edit{.title = "Tag y", .changes = {SetPolicy{.select = "y", .policy = policy}}};
  };
  const auto first = open();
  first->document.editing().apply_all(
      {tagged(MemoryPolicy::must_save), tagged(MemoryPolicy::must_recompute)});
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return first->document.editing().is_settled(); }, test::kPatienceMs));
  SavedWork found;
  found.workspace.options = to_workspace(first->document.analysis().options);
  found.workspace.history = first->document.editing().history();
  const auto again = open();
  Editing& editing = again->document.editing();
  const QSignalSpy restored(&again->autosave, &Autosave::restored);
  editing.apply_all({tagged(MemoryPolicy::prefer_save)});
  ASSERT_FALSE(editing.is_settled());
  again->autosave.restore(found);
  ASSERT_TRUE(QTest::qWaitFor([&] { return restored.count() == 1 && editing.is_settled(); },
                              test::kPatienceMs));
  EXPECT_EQ(restored.front().front().toInt(), 2);
  EXPECT_EQ(editing.entry_count(), 2);
  EXPECT_EQ(again->document.graph().node(again->document.graph().find("y")).policy,
            MemoryPolicy::must_recompute);
}

// A document whose kernels are predicted.
class AutosaveOfKernelMoves : public testing::Test {
 protected:
  struct Open {
    Open(const SnapshotPtr& snapshot, test::FakeBenchmarks& service, const QTemporaryDir& folder)
        : document(OpenRequest{.path = "/tmp/graph.json"}, snapshot),
          benchmarks(document, service, BenchmarkHistory(folder.path().toStdString())),
          autosave(document, benchmarks, folder.filePath(QStringLiteral("journals"))) {}

    Document document;
    Benchmarks benchmarks;
    Autosave autosave;
  };

  void SetUp() override { open(); }
  void TearDown() override { close(); }
  void open() {
    open_ = std::make_unique<Open>(snapshot_, service_, folder_);
    document().kernels().watch(pane_);
    ASSERT_TRUE(wait_for([this] { return document().kernels().is_current(); }));
  }
  void close() {
    if (!open_) return;
    document().kernels().stop_watching(pane_);
    open_.reset();
  }
  template <class Condition>
  static bool wait_for(const Condition& condition) {
    return QTest::qWaitFor(condition, test::kPatienceMs);
  }
  void move() const {
    using Direction = KernelOrderEdits::Direction;
    bool is_moved = false;
    for (std::size_t row = 0; row < 3 && !is_moved; ++row)
      is_moved = order().move_far(row, Direction::earlier);
    ASSERT_TRUE(is_moved);
  }
  void restore(const SavedWork& found) const {
    const QSignalSpy restored(&autosave(), &Autosave::restored);
    autosave().restore(found);
    ASSERT_TRUE(wait_for([&] {
      return restored.count() == 1 && document().kernels().is_current() && order().is_settled();
    }));
  }
  [[nodiscard]] Document& document() const { return open_->document; }
  [[nodiscard]] Autosave& autosave() const { return open_->autosave; }
  [[nodiscard]] KernelOrderEdits& order() const { return document().kernel_order(); }

  QTemporaryDir folder_;
  test::FakeBenchmarks service_;
  SnapshotPtr snapshot_ = test::snapshot_of(test::kTwoProductChains);
  QObject pane_;
  std::unique_ptr<Open> open_;
};

TEST_F(AutosaveOfKernelMoves, AMoveIsAnUnsavedChange) {
  EXPECT_FALSE(autosave().is_dirty());
  move();
  EXPECT_TRUE(autosave().is_dirty()) << "before its rows are made";
  order().undo();
  EXPECT_FALSE(autosave().is_dirty());
  order().redo();
  EXPECT_TRUE(autosave().is_dirty());
}

TEST_F(AutosaveOfKernelMoves, MovesAreSavedAndRestored) {
  const QString path = folder_.filePath(QStringLiteral("graph.jointer"));
  move();
  const NamedKernelMoves moves = order().saved();
  const QSignalSpy saved(&autosave(), &Autosave::saved);
  autosave().save(path, {});
  ASSERT_TRUE(wait_for([&] { return saved.count() == 1; }));
  EXPECT_FALSE(autosave().is_dirty());
  close();
  const auto written = read_workspace(path.toStdString());
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->kernel_moves, moves);
  open();
  restore({.workspace = *written, .path = path});
  EXPECT_EQ(order().saved(), moves);
  EXPECT_FALSE(autosave().is_dirty());
  EXPECT_NE(order().shown(), document().kernels().shown());
  // The file's moves come back.
  order().undo();
  EXPECT_TRUE(autosave().is_dirty());
  autosave().discard(document().analysis().options, {});
  ASSERT_TRUE(wait_for([&] { return order().saved() == moves; }));
  EXPECT_FALSE(autosave().is_dirty());
}

TEST_F(AutosaveOfKernelMoves, TheJournalHasTheMoves) {
  move();
  const NamedKernelMoves moves = order().saved();
  close();
  const std::vector<LeftJournal> left =
      left_journals(folder_.filePath(QStringLiteral("journals")).toStdString());
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].state.workspace.kernel_moves, moves);
  open();
  restore({.workspace = left[0].state.workspace, .journal = QString::fromStdString(left[0].path)});
  EXPECT_EQ(order().saved(), moves);
  EXPECT_TRUE(autosave().is_dirty());
}

TEST_F(AutosaveOfKernelMoves, DroppedMovesAreAChange) {
  Workspace workspace;
  workspace.kernel_moves = {.moves = {{.kernel = {.nodes = {"c"}}, .anchor = {.nodes = {"no"}}}},
                            .place = 1};
  restore({.workspace = workspace});
  EXPECT_EQ(order().move_count(), 0U);
  EXPECT_TRUE(order().said().contains("Dropped 1 of 1")) << order().said().toStdString();
  EXPECT_TRUE(autosave().is_dirty());
}

}  // namespace
}  // namespace jointer::views
