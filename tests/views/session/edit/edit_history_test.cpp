// Tests edit histories: transitions between them and replaying a stored one.

#include <gtest/gtest.h>

#include <random>

#include "core/edit/moves.h"
#include "core/graph/canonical.h"
#include "core/schedule/legal_range.h"
#include "tests/support/paths.h"
#include "tests/support/snapshots.h"
#include "views/session/edit/edit_history.h"
#include "views/session/edit/stored_history.h"

namespace jointer::views {
namespace {

constexpr int kMoves = 60;

// Random legal moves of nodes, each on the graph left by the previous ones.
std::vector<Edit> random_moves(Graph graph, int count, unsigned seed) {
  std::mt19937 random(seed);
  const auto draw = [&](std::size_t first, std::size_t last) {
    return std::uniform_int_distribution<std::size_t>(first, last)(random);
  };
  std::vector<Edit> edits;
  while (static_cast<int>(edits.size()) < count) {
    const NodeId node = graph.order()[draw(0, graph.order().size() - 1)];
    const Dependencies dependencies(graph);
    const auto range = legal_range(graph, dependencies, std::vector{node});
    if (!range || range->first == range->last) continue;
    std::vector<NodeId> rest(graph.order().begin(), graph.order().end());
    std::erase(rest, node);
    const auto edit = move_edit(graph, std::vector{node}, rest[draw(range->first, range->last)]);
    if (!edit || !apply(graph, *edit)) continue;
    edits.push_back(*edit);
  }
  return edits;
}

class EditHistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    auto graph = open_graph(
        {.path = test::source_path("resources/samples/llama_debug_fsdp2.joint.json.zst")});
    ASSERT_TRUE(graph) << graph.error().message;
    auto made = make_snapshot(*std::move(graph), {});
    ASSERT_TRUE(made);
    opened_ = *made;
    Graph edited = opened_->graph;
    run_ = run_edits(edited, random_moves(opened_->graph, kMoves, 7));
    ASSERT_EQ(run_.done.size(), static_cast<std::size_t>(kMoves));
  }

  // The graph after some of the edits.
  [[nodiscard]] std::string hash_at(std::size_t count) const {
    Graph graph = opened_->graph;
    for (std::size_t i = 0; i < count; ++i) EXPECT_TRUE(apply(graph, run_.done[i]->edit));
    return graph_hash(graph);
  }
  [[nodiscard]] EditHistory history(std::size_t count) const {
    return {run_.done.begin(), run_.done.begin() + static_cast<std::ptrdiff_t>(count)};
  }

  SnapshotPtr opened_;
  EditRun run_;
};

TEST_F(EditHistoryTest, any_position_can_be_reached_from_any_other) {
  DocumentState state{opened_, opened_};
  std::size_t at = 0;
  for (const std::size_t to : {60U, 13U, 14U, 59U, 0U, 60U, 31U}) {
    const auto result = transform(state, Transition(history(at), history(to)));
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(graph_hash(result->now->graph), hash_at(to)) << at << " to " << to;
    state.now = result->now;
    at = to;
  }
}

TEST_F(EditHistoryTest, reused_results_equal_recomputed_ones) {
  const auto result = transform({opened_, opened_}, Transition({}, history(kMoves)));
  ASSERT_TRUE(result);
  const auto anew = make_snapshot(result->now->graph, opened_->analysis.options);
  ASSERT_TRUE(anew);
  EXPECT_EQ(metrics_of(result->now->graph, result->now->analysis),
            metrics_of((*anew)->graph, (*anew)->analysis));
  EXPECT_TRUE(std::ranges::equal(result->now->analysis.memory.profile(),
                                 (*anew)->analysis.memory.profile()));
  EXPECT_EQ(result->now->analysis.throughput.tokens_per_second,
            (*anew)->analysis.throughput.tokens_per_second);
}

TEST_F(EditHistoryTest, figures_of_many_histories_equal_those_of_each) {
  const std::atomic<bool> go_on = false;
  const auto found =
      metrics_of_histories(*opened_, {history(5), history(6), history(20), history(3), {}}, go_on);
  ASSERT_EQ(found.size(), 5U);
  for (const std::size_t count : {3U, 6U, 20U}) {
    const auto snapshot = snapshot_of_history(opened_, edits_of(history(count)));
    ASSERT_TRUE(snapshot);
    EXPECT_EQ(found.at(history(count)), metrics_of((*snapshot)->graph, (*snapshot)->analysis));
  }
}

TEST_F(EditHistoryTest, replaying_a_history_gives_the_same_graph) {
  std::vector<EditEntry> entries;
  EditHistory at;
  for (std::size_t i = 0; i < 6; ++i) {
    entries.push_back(entry_of(run_.done[i], at));
    at = entries.back().after;
  }
  // An entry that returns to a named state.
  entries.push_back({.title = "Go to \u201cthree\u201d", .before = at, .after = history(3)});
  const std::vector<NamedState> named{{"three", history(3), {}}, {"six", history(6), {}}};
  std::vector<const EditEntry*> pointers;
  for (const EditEntry& entry : entries) pointers.push_back(&entry);
  const History history = to_history(pointers, 5, named);
  const auto restored = restore_history({opened_, opened_}, history);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_TRUE(restored->refused.empty());
  EXPECT_EQ(restored->entries.size(), 7U);
  EXPECT_EQ(restored->place, 5U);
  EXPECT_EQ(graph_hash(restored->now->graph), hash_at(5));
  // The named state shares a prefix with the entries, so going there moves within the history.
  EXPECT_EQ(restored->named[0].history, restored->entries[2].after);
  EXPECT_EQ(restored->named[1].history, restored->entries[5].after);
  pointers.clear();
  for (const EditEntry& entry : restored->entries) pointers.push_back(&entry);
  EXPECT_EQ(to_history(pointers, restored->place, restored->named), history);
}

TEST_F(EditHistoryTest, illegal_edits_are_skipped_and_reported) {
  History history;
  history.add(run_.done[0]->edit);
  history.add(Edit{.title = "Move nothing", .changes = {MoveNodes{{"nothing"}, "output"}}});
  history.add(run_.done[1]->edit);
  const auto restored = restore_history({opened_, opened_}, history);
  ASSERT_TRUE(restored);
  EXPECT_EQ(restored->entries.size(), 2U);
  EXPECT_EQ(restored->place, 2U);
  ASSERT_EQ(restored->refused.size(), 1U);
  EXPECT_NE(restored->refused.front().find("nothing"), std::string::npos);
}

}  // namespace
}  // namespace jointer::views
