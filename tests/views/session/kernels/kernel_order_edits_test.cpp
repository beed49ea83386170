// Moves of predicted kernels by the user: order, peak, undo, and a graph that changes below them.

#include "views/session/kernels/kernel_order_edits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/index.h"
#include "core/base/json_text.h"
#include "core/edit/edit.h"
#include "core/open/open.h"
#include "tests/support/hand_made_kernels.h"
#include "tests/support/held_pool.h"
#include "tests/support/kernel_graphs.h"
#include "tests/support/must.h"
#include "tests/support/paths.h"
#include "tests/support/snapshots.h"
#include "tests/support/temporary_folder.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/kernels/kernel_keys.h"
#include "views/session/kernels/predicted_kernels.h"
#include "views/session/kernels/shown_kernels.h"
#include "views/session/text/number_text.h"

namespace jointer::views {
namespace {

using Direction = KernelOrderEdits::Direction;

class KernelOrderEditsTest : public testing::Test {
 protected:
  void SetUp() override {
    pool = std::make_unique<test::HeldPool>();
    document = std::make_unique<Document>(OpenRequest{.path = "/tmp/graph.json"},
                                          test::snapshot_of(test::kTwoProductChains));
    document->kernels().watch(pane);
    run_all();
  }
  void TearDown() override {
    document->kernels().stop_watching(pane);
    document.reset();
    pool.reset();
  }
  void run_all() const { pool->run_all(8); }
  [[nodiscard]] KernelOrderEdits& edits() const { return document->kernel_order(); }
  // Moves the kernel of c to the front, and waits for the rows.
  void move_c_first() const {
    edits().move_far(row_of("c"), Direction::earlier);
    run_all();
  }
  [[nodiscard]] std::size_t row_of(const char* name) const {
    const NodeId node = document->graph().find(name);
    const SnapshotKernels& shown = *edits().shown();
    for (std::size_t row = 0; row < shown.rows().size(); ++row)
      if (std::ranges::find(shown.kernel(row).nodes, node) != shown.kernel(row).nodes.end())
        return row;
    ADD_FAILURE() << name << " runs in no kernel";
    return 0;
  }
  // Now c cannot run first.
  void let_c_read_b() const {
    ReplaceCall reads_b;
    reads_b.node = "c";
    reads_b.inputs = {{"y", "b"}};
    Edit edit;
    edit.title = "c reads b";
    edit.changes.emplace_back(reads_b);
    document->editing().apply(edit);
    run_all();
  }
  // The names of the nodes in the order of their kernels.
  [[nodiscard]] std::string order() const {
    std::string text;
    for (std::size_t row = 0; row < edits().shown()->rows().size(); ++row)
      for (const NodeId node : edits().shown()->kernel(row).nodes)
        text += std::string(document->graph().name(node)) + ' ';
    return text;
  }

  std::unique_ptr<test::HeldPool> pool;
  std::unique_ptr<Document> document;
  QObject pane;
};

TEST_F(KernelOrderEditsTest, WithoutMovesTheKernelsAreThosePredicted) {
  EXPECT_EQ(edits().shown(), document->kernels().shown());
  EXPECT_FALSE(edits().can_undo());
  EXPECT_FALSE(edits().write("/tmp/never.json"));
}

TEST_F(KernelOrderEditsTest, AMoveChangesOrderAndPeakAndCanBeUndone) {
  const std::string before = order();
  const std::int64_t peak = edits().shown()->totals().peak_bytes;
  ASSERT_TRUE(edits().move_far(row_of("c"), Direction::later) ||
              edits().move_far(row_of("c"), Direction::earlier));
  EXPECT_EQ(order(), before) << "the rows are made on a worker thread";
  EXPECT_FALSE(edits().is_settled());
  run_all();
  EXPECT_TRUE(edits().is_settled());
  const std::string after = order();
  EXPECT_NE(after, before);
  EXPECT_NE(edits().shown(), document->kernels().shown());
  EXPECT_TRUE(edits().said().contains("any position from 1 to 3 is legal"))
      << edits().said().toStdString();
  edits().undo();
  EXPECT_EQ(order(), before);
  EXPECT_EQ(edits().shown()->totals().peak_bytes, peak);
  EXPECT_EQ(edits().shown(), document->kernels().shown());
  EXPECT_TRUE(edits().can_redo());
  edits().redo();
  run_all();
  EXPECT_EQ(order(), after);
  edits().reset();
  EXPECT_EQ(order(), before);
}

// For example, if there is not enough memory for them.
TEST_F(KernelOrderEditsTest, SaysThatTheRowsOfAnOrderCouldNotBeMade) {
  move_c_first();
  KernelOrderEdits other(document->kernels(),
                         [](const SnapshotPtr& /*snapshot*/,
                            const std::vector<CompiledPart>& /*parts*/) -> SnapshotKernelsPtr {
                           throw std::runtime_error("no rows");
                         });
  const ShownKernels shown(document->kernels(), other, document->asked_kernels(),
                           document->opened_kernels(), document->traced_kernels());
  other.restore(edits().saved());
  EXPECT_EQ(shown.state_text(), "predicting...");
  run_all();
  EXPECT_TRUE(other.is_settled());
  EXPECT_EQ(shown.state_text(), "cannot be ordered");
  EXPECT_TRUE(shown.problem().contains("no rows")) << shown.problem().toStdString();
  other.undo();
  EXPECT_EQ(shown.state_text(), "") << "the predicted order needs no other rows";
  EXPECT_TRUE(shown.problem().isEmpty());
}

TEST_F(KernelOrderEditsTest, DependenciesHoldAKernel) {
  move_c_first();
  const std::string before = order();
  EXPECT_FALSE(edits().move(row_of("b"), Direction::earlier, false));
  EXPECT_EQ(order(), before);
  EXPECT_TRUE(edits().said().contains("Held by a")) << edits().said().toStdString();
  EXPECT_FALSE(edits().move(row_of("c"), Direction::earlier, false));
  EXPECT_EQ(edits().said(),
            QString("c cannot move earlier: no kernel is launched before it in its graph."));
}

// The peak is that of two products while b runs alone after c, or of three at once.
TEST_F(KernelOrderEditsTest, ThePeakIsCountedAgain) {
  edits().move_far(row_of("c"), Direction::later);
  run_all();
  const std::int64_t late = edits().shown()->totals().peak_bytes;
  move_c_first();
  EXPECT_EQ(edits().shown()->totals().peak_bytes - late, 1024 * 1024 * 4);
}

// Until the rows of a move are made, its kernel is still in its old row.
TEST_F(KernelOrderEditsTest, ARowIsAKernelOfTheOrderThatIsShown) {
  move_c_first();
  ASSERT_EQ(order(), "c a b ");
  ASSERT_TRUE(edits().move(0, Direction::later, true));
  ASSERT_EQ(order(), "c a b ");
  ASSERT_TRUE(edits().move(0, Direction::later, true)) << "c again, not a";
  EXPECT_TRUE(edits().said().startsWith("c runs as kernel 3")) << edits().said().toStdString();
  run_all();
  EXPECT_EQ(order(), "a b c ");
}

TEST_F(KernelOrderEditsTest, RowsOfAnEarlierOrderAreDropped) {
  move_c_first();
  int changes = 0;
  const QObject context;
  QObject::connect(&edits(), &KernelOrderEdits::changed, &context, [&] {
    ++changes;
    EXPECT_EQ(order(), "a b c ");
  });
  ASSERT_TRUE(edits().move(0, Direction::later, true));
  pool->run_started();  // the rows of "a c b" are made, but not delivered
  ASSERT_TRUE(edits().move(0, Direction::later, true));
  run_all();
  EXPECT_EQ(changes, 1);
  EXPECT_EQ(order(), "a b c ");
}

TEST_F(KernelOrderEditsTest, UndoReplacesAMoveWhoseRowsAreStillMade) {
  const SnapshotKernelsPtr predicted = edits().shown();
  ASSERT_TRUE(edits().move_far(row_of("c"), Direction::later) ||
              edits().move_far(row_of("c"), Direction::earlier));
  pool->run_started();
  edits().undo();
  EXPECT_TRUE(edits().is_settled());
  EXPECT_EQ(edits().shown(), predicted);
  run_all();
  EXPECT_EQ(edits().shown(), predicted);
  EXPECT_TRUE(edits().can_redo());
}

// The rows of an earlier graph are dropped. Until those of the new one are made, a row of the
// earlier graph is the same kernel of the new one.
TEST_F(KernelOrderEditsTest, AMoveMayBeMadeWhileOtherKernelsArePredicted) {
  move_c_first();
  const SnapshotPtr before = document->shared_snapshot();
  AnalysisOptions options = document->analysis().options;
  options.memory.optimizer = OptimizerState::adamw;
  document->analyze_with(options);
  for (int i = 0; i < 8 && document->shared_snapshot() == before; ++i) {
    pool->run_started();
    QCoreApplication::processEvents();
  }
  ASSERT_NE(document->shared_snapshot(), before);
  QCoreApplication::processEvents();  // the prediction begins
  ASSERT_TRUE(document->kernels().is_running());
  ASSERT_TRUE(edits().move(0, Direction::later, true));
  pool->run_started();                // both are made,
  QCoreApplication::processEvents();  // and the prediction is delivered first
  ASSERT_TRUE(document->kernels().is_current());
  EXPECT_FALSE(edits().is_settled());
  EXPECT_EQ(edits().shown()->snapshot(), before);
  ASSERT_TRUE(edits().move(0, Direction::later, true)) << "still the row of c";
  run_all();
  EXPECT_EQ(edits().shown()->snapshot(), document->shared_snapshot());
  EXPECT_EQ(order(), "a b c ");
  EXPECT_EQ(edits().move_count(), 3U);
}

TEST_F(KernelOrderEditsTest, MovesStayWhileTheyFit) {
  move_c_first();
  ASSERT_EQ(order(), "c a b ");
  AnalysisOptions options = document->analysis().options;
  options.memory.optimizer = OptimizerState::adamw;
  document->analyze_with(options);
  run_all();
  EXPECT_EQ(order(), "c a b ");
  EXPECT_TRUE(edits().said().isEmpty());
}

TEST_F(KernelOrderEditsTest, MovesThatNoLongerFitAreDropped) {
  move_c_first();
  ASSERT_EQ(order(), "c a b ");
  let_c_read_b();
  ASSERT_TRUE(document->kernels().is_current());
  EXPECT_EQ(order(), "a b c ");
  EXPECT_EQ(edits().move_count(), 0U);
  EXPECT_FALSE(edits().can_redo());
  EXPECT_TRUE(edits().said().contains(
      "Dropped 1 of 1 kernel moves because they no longer fit the graph: move 1."))
      << edits().said().toStdString();
}

TEST_F(KernelOrderEditsTest, AnUndoneMoveThatNoLongerFitsIsNotRedone) {
  move_c_first();
  ASSERT_EQ(order(), "c a b ");
  edits().undo();
  let_c_read_b();
  ASSERT_TRUE(document->kernels().is_current());
  ASSERT_TRUE(edits().can_redo());
  edits().redo();
  EXPECT_EQ(order(), "a b c ");
  EXPECT_EQ(edits().move_count(), 0U);
  EXPECT_FALSE(edits().can_redo());
  EXPECT_EQ(edits().said(),
            QString("The move no longer fits the graph. It and the moves after it were dropped."));
  EXPECT_FALSE(edits().write("/tmp/never.json"));
}

TEST_F(KernelOrderEditsTest, SaysAtOnceThatMovesHaveChanged) {
  int moves = 0;
  const QObject context;
  QObject::connect(&edits(), &KernelOrderEdits::moved, &context, [&] { ++moves; });
  ASSERT_TRUE(edits().move_far(row_of("c"), Direction::later) ||
              edits().move_far(row_of("c"), Direction::earlier));
  EXPECT_EQ(moves, 1);
  EXPECT_FALSE(edits().is_settled());
  edits().undo();
  edits().redo();
  edits().reset();
  EXPECT_EQ(moves, 4);
}

TEST_F(KernelOrderEditsTest, SavedMovesAreRestored) {
  move_c_first();
  ASSERT_TRUE(edits().move(0, Direction::later, true));
  edits().undo();
  const NamedKernelMoves saved = edits().saved();
  ASSERT_EQ(saved.moves.size(), 2U);
  EXPECT_EQ(saved.place, 1U);
  EXPECT_EQ(saved.moves[0].kernel.nodes, std::vector<std::string>{"c"});
  EXPECT_FALSE(saved.moves[0].is_after);
  edits().restore({});
  EXPECT_EQ(edits().shown(), document->kernels().shown());
  EXPECT_EQ(edits().saved(), NamedKernelMoves());
  edits().restore(saved);
  run_all();
  EXPECT_EQ(order(), "c a b ");
  EXPECT_EQ(edits().saved(), saved);
  edits().redo();
  run_all();
  EXPECT_EQ(order(), "a c b ");
}

// Only the kernels of the graph with all edits show which moves fit.
TEST_F(KernelOrderEditsTest, RestoredMovesWaitForTheKernelsOfTheGraph) {
  move_c_first();
  const NamedKernelMoves saved = edits().saved();
  edits().restore({});
  document->kernels().stop_watching(pane);
  AnalysisOptions options = document->analysis().options;
  options.memory.optimizer = OptimizerState::adamw;
  document->analyze_with(options);
  run_all();
  ASSERT_FALSE(document->kernels().is_current());
  edits().restore(saved);
  EXPECT_FALSE(edits().can_undo());
  EXPECT_EQ(edits().saved(), saved);
  document->kernels().watch(pane);
  run_all();
  EXPECT_EQ(order(), "c a b ");
  EXPECT_TRUE(edits().can_undo());
}

TEST_F(KernelOrderEditsTest, RestoredMovesThatDoNotFitAreDropped) {
  NamedKernelMoves saved;
  saved.moves = {{.kernel = {.nodes = {"c"}}, .anchor = {.nodes = {"gone"}}},
                 {.kernel = {.nodes = {"c"}, .number = 1}, .anchor = {.nodes = {"a"}}},
                 {.kernel = {.nodes = {"c"}}, .anchor = {.nodes = {"a"}}},
                 {.kernel = {.nodes = {"c"}}, .anchor = {.nodes = {"a"}}, .part = 1}};
  saved.place = 4;
  edits().restore(saved);
  run_all();
  EXPECT_EQ(edits().move_count(), 1U);
  EXPECT_TRUE(edits().said().contains("Dropped 3 of 4")) << edits().said().toStdString();
  EXPECT_LT(row_of("c"), row_of("a"));
}

// Kernels that pass each other keep their keys, unless all of their nodes are the same.
TEST(KernelKeys, StayWhenKernelsWithTheSameFirstNodePassEachOther) {
  using Kind = kernels::Kernel::Kind;
  const SnapshotPtr snapshot = test::snapshot_of(test::kTwoProductChains);
  const auto keys = [&snapshot](const std::vector<std::vector<std::string>>& nodes) {
    std::vector<test::HandMadeKernel> given;
    for (const std::vector<std::string>& each : nodes)
      given.push_back({Kind::pointwise, each, 8, 8});
    return kernel_keys(
        *test::hand_made_kernels(snapshot, test::hand_made_part(snapshot->graph, given)));
  };
  const auto before = keys({{"a", "b"}, {"a", "c"}, {"a", "c"}, {"a"}});
  const auto after = keys({{"a"}, {"a", "c"}, {"a", "b"}, {"a", "c"}});
  EXPECT_EQ(after, (std::vector{before[3], before[1], before[0], before[2]}));
  std::vector<std::uint64_t> sorted = before;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
}

class KernelOrderEditsOfAPair : public testing::Test {
 protected:
  void SetUp() override {
    pool = std::make_unique<test::HeldPool>();
    const Graph graph = test::must(open_graph(
        {.path = test::source_path("resources/samples/llama_debug_tp2_fsdp2.min_cut.json.zst")}));
    document = std::make_unique<Document>(OpenRequest{.path = "pair"},
                                          test::must(make_snapshot(graph, {})));
    document->kernels().watch(pane);
    pool->run_all(8);
    ASSERT_TRUE(edits().shown());
  }
  void TearDown() override {
    document->kernels().stop_watching(pane);
    document.reset();
    pool.reset();
  }
  [[nodiscard]] KernelOrderEdits& edits() const { return document->kernel_order(); }
  // Moves the first wait of the half that can move as far as possible, and returns its nodes.
  [[nodiscard]] std::vector<NodeId> move_a_wait(std::size_t part) const {
    const SnapshotKernelsPtr shown = edits().shown();
    for (std::size_t row = 0; row < shown->rows().size(); ++row)
      if (as_index(shown->rows()[row].part) == part &&
          shown->kernel(row).kind == kernels::Kernel::Kind::wait &&
          (edits().move_far(row, Direction::earlier) || edits().move_far(row, Direction::later)))
        return shown->kernel(row).nodes;
    return {};
  }

  std::unique_ptr<test::HeldPool> pool;
  std::unique_ptr<Document> document;
  QObject pane;
};

// The recipe has the moves of both halves, and names the kernels by their collectives.
TEST_F(KernelOrderEditsOfAPair, AreWrittenAsARecipe) {
  for (std::size_t part = 0; part < 2; ++part) ASSERT_FALSE(move_a_wait(part).empty());
  EXPECT_FALSE(edits().is_settled()) << "a recipe needs no rows";
  const test::TemporaryFolder folder;
  const std::string path = folder / "pair.order.json";
  const auto written = edits().write(QString::fromStdString(path));
  ASSERT_TRUE(written) << written.error().message;
  auto json = parse_tree(test::must(read_bytes(path)).view());
  ASSERT_TRUE(json);
  for (const char* half : {"forward", "backward"}) {
    ASSERT_EQ((*json)["graphs"][half]["moves"].size(), 1U);
    EXPECT_EQ((*json)["graphs"][half]["moves"][0]["move"]["kind"], "wait");
    EXPECT_FALSE((*json)["graphs"][half]["collectives"].empty());
  }
}

// The kernels of the backward are numbered after those of the forward, as in the table.
TEST_F(KernelOrderEditsOfAPair, SayTheNumberOfAKernelInTheTable) {
  const std::vector<NodeId> moved = move_a_wait(1);
  ASSERT_FALSE(moved.empty());
  const QString said = edits().said();
  pool->run_all(8);
  ASSERT_TRUE(edits().is_settled());
  const SnapshotKernels& shown = *edits().shown();
  std::size_t row = 0;
  while (row < shown.rows().size() && shown.kernel(row).nodes != moved) ++row;
  ASSERT_LT(row, shown.rows().size());
  ASSERT_EQ(as_index(shown.rows()[row].part), 1U);
  EXPECT_TRUE(said.contains(QString(" runs as kernel %1; ").arg(count_text(row + 1))))
      << said.toStdString();
}

}  // namespace
}  // namespace jointer::views
