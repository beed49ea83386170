// The prediction of kernels in the background: a pool held by the test decides when each job is
// done.

#include "views/session/kernels/predicted_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "core/edit/moves.h"
#include "core/open/open.h"
#include "tests/support/held_pool.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/snapshots.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/predict_kernels.h"

namespace jointer::views {
namespace {

class PredictedKernelsTest : public testing::Test {
 protected:
  void SetUp() override {
    pool = std::make_unique<test::HeldPool>();
    document = std::make_unique<Document>(OpenRequest{.path = "/tmp/graph.json"},
                                          test::snapshot_of(test::kFusedAndProducts));
    QObject::connect(&predicted(), &PredictedKernels::changed, [this] { ++changes; });
  }
  void TearDown() override {
    document.reset();
    pool.reset();
  }
  [[nodiscard]] PredictedKernels& predicted() const { return document->kernels(); }
  [[nodiscard]] NodeId node(const char* name) const { return document->graph().find(name); }
  // A computation begins in the next turn of the event loop.
  static void begin() { QCoreApplication::processEvents(); }
  void run_all() const { pool->run_all(8); }
  // Requests another snapshot of the same graph.
  void change() const {
    AnalysisOptions options = document->analysis().options;
    options.memory.optimizer = OptimizerState::adamw;
    document->analyze_with(options);
  }

  std::unique_ptr<test::HeldPool> pool;
  std::unique_ptr<Document> document;
  QObject pane;
  int changes = 0;
};

TEST_F(PredictedKernelsTest, ComputesNothingUntilSomeoneWatches) {
  run_all();
  EXPECT_FALSE(predicted().is_running());
  EXPECT_FALSE(predicted().shown());
  predicted().watch(pane);
  EXPECT_TRUE(predicted().is_running());
  run_all();
  EXPECT_FALSE(predicted().is_running());
  EXPECT_EQ(changes, 1);
  ASSERT_TRUE(predicted().is_current());
  EXPECT_EQ(predicted().problem(), QString());
  predicted().stop_watching(pane);
}

// The two element-wise operators before the product are one kernel.
TEST_F(PredictedKernelsTest, FusesElementwiseOperators) {
  predicted().watch(pane);
  run_all();
  const SnapshotKernels& shown = *predicted().shown();
  const auto of = [&](const char* name) {
    for (std::size_t row = 0; row < shown.rows().size(); ++row)
      if (shown.rows()[row].launches &&
          std::ranges::find(shown.kernel(row).nodes, node(name)) != shown.kernel(row).nodes.end())
        return static_cast<int>(row);
    return -1;
  };
  EXPECT_GE(of("a"), 0);
  EXPECT_EQ(of("a"), of("b"));
  EXPECT_GT(of("c"), of("b"));
  EXPECT_GT(of("d"), of("c"));
  EXPECT_EQ(shown.totals().kernels, 4);
  EXPECT_EQ(shown.per_operator().kernels, 5);
  EXPECT_LT(shown.totals().memory_bound_bytes, shown.per_operator().memory_bound_bytes);
  EXPECT_GE(shown.totals().peak_bytes, document->analysis().memory.static_bytes());
  predicted().stop_watching(pane);
}

TEST_F(PredictedKernelsTest, AChangeReplacesTheComputation) {
  predicted().watch(pane);
  begin();
  change();
  run_all();
  EXPECT_TRUE(predicted().is_current());
  EXPECT_EQ(predicted().shown()->snapshot(), document->shared_snapshot());
  const SnapshotKernelsPtr first = predicted().shown();
  change();
  EXPECT_EQ(predicted().shown(), first) << "the previous kernels stay until there are new ones";
  run_all();
  predicted().stop_watching(pane);
}

TEST_F(PredictedKernelsTest, FollowsAnEdit) {
  predicted().watch(pane);
  run_all();
  const SnapshotKernelsPtr before = predicted().shown();
  document->editing().apply(*move_edit(document->graph(), std::vector{node("e")}, node("a")));
  run_all();
  ASSERT_NE(predicted().shown(), before);
  EXPECT_TRUE(predicted().is_current());
  EXPECT_GE(changes, 2);
  predicted().stop_watching(pane);
}

TEST_F(PredictedKernelsTest, EndsEarlyIfItIsCancelled) {
  const Cancellation job{};
  job.cancel();
  const auto found = predict_kernels(document->shared_snapshot(), job);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, Error::Kind::cancelled);
}

TEST_F(PredictedKernelsTest, StopsWhenNoOneWatches) {
  predicted().watch(pane);
  begin();
  predicted().stop_watching(pane);
  EXPECT_FALSE(predicted().is_running());
  run_all();
  EXPECT_EQ(changes, 0);
  change();
  run_all();
  EXPECT_EQ(changes, 0);
  predicted().watch(pane);
  run_all();
  EXPECT_EQ(changes, 1);
  EXPECT_TRUE(predicted().is_current());
  predicted().stop_watching(pane);
}

TEST_F(PredictedKernelsTest, KnownKernelsAreNotComputedTwice) {
  predicted().watch(pane);
  run_all();
  const SnapshotKernelsPtr shown = predicted().shown();
  predicted().stop_watching(pane);
  predicted().watch(pane);
  EXPECT_FALSE(predicted().is_running());
  run_all();
  EXPECT_EQ(predicted().shown(), shown);
  const QObject other;
  predicted().watch(other);
  predicted().stop_watching(pane);
  EXPECT_FALSE(predicted().is_running());
  predicted().stop_watching(other);
}

TEST_F(PredictedKernelsTest, SaysThatTheGraphIsTheirsAgain) {
  predicted().watch(pane);
  run_all();
  predicted().stop_watching(pane);
  document->editing().apply(*move_edit(document->graph(), std::vector{node("e")}, node("a")));
  run_all();
  EXPECT_FALSE(predicted().is_current());
  EXPECT_EQ(changes, 1);
  document->editing().undo();
  run_all();
  EXPECT_TRUE(predicted().is_current());
  EXPECT_EQ(changes, 2);
}

TEST_F(PredictedKernelsTest, ADocumentMayCloseWhileItsKernelsAreComputed) {
  predicted().watch(pane);
  begin();
  document.reset();
  run_all();
  EXPECT_EQ(changes, 0);
}

// The halves of a pair are compiled separately, and their kernels refer to the nodes of the pair.
TEST(PredictedKernelsOfAPair, HaveTheNodesOfBothHalves) {
  test::HeldPool pool;
  const Graph graph = test::must(open_graph(
      {.path = test::source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")}));
  Document document(OpenRequest{.path = "pair"}, test::must(make_snapshot(graph, {})));
  const QObject pane;
  document.kernels().watch(pane);
  pool.run_all(8);
  ASSERT_TRUE(document.kernels().is_current()) << document.kernels().problem().toStdString();
  const SnapshotKernels& shown = *document.kernels().shown();
  ASSERT_EQ(shown.parts().size(), 2U);
  for (const CompiledPart& part : shown.parts()) {
    EXPECT_FALSE(part.scheduled.kernels.empty());
    for (const kernels::Kernel& kernel : part.scheduled.kernels)
      for (const NodeId node : kernel.nodes) {
        ASSERT_TRUE(document.has(node));
        EXPECT_EQ(graph.node(node).part, part.part);
      }
  }
  EXPECT_EQ(shown.totals().collectives, shown.per_operator().collectives);
  EXPECT_LT(shown.totals().kernels, shown.per_operator().kernels);
  EXPECT_LT(shown.totals().memory_bound_bytes, shown.per_operator().memory_bound_bytes);
  document.kernels().stop_watching(pane);
}

}  // namespace
}  // namespace jointer::views
