// Tests without a window: positions of a block, the text shown for a move, and the policies that
// edits set.

#include <gtest/gtest.h>

#include "core/edit/edit.h"
#include "core/graph/canonical.h"
#include "tests/support/snapshots.h"
#include "tests/support/two_gathers.h"
#include "views/session/edit/block_move.h"
#include "views/session/edit/metrics.h"
#include "views/session/edit/planned_moves.h"
#include "views/session/edit/policy_edit.h"

namespace jointer::views {
namespace {

class MovesTest : public test::TwoGathers {
 protected:
  [[nodiscard]] BlockMove move(const char* name, std::size_t to) const {
    return {{node(name)}, what_if_->range(std::vector{node(name)})->current, to};
  }
};

TEST_F(MovesTest, block_is_in_its_gap_after_a_move) {
  const auto range = *what_if_->range(std::vector{node("v1")});
  for (std::size_t gap = range.first; gap <= range.last; ++gap) {
    const BlockMove to = move("v1", gap);
    const auto order = order_after(graph().order(), to);
    ASSERT_EQ(order.size(), graph().order().size());
    EXPECT_EQ(order[gap], node("v1"));
    EXPECT_EQ(order[gap + 1], node_after(graph().order(), to));
  }
}

TEST_F(MovesTest, passing_a_collective_of_the_group_is_reported) {
  const auto range = *what_if_->range(std::vector{node("g2")});
  EXPECT_EQ(reordering_text(graph(), graph().order(), move("g2", range.first)),
            "Moves past 1 collective of group fsdp: every rank must do the same.");
  EXPECT_EQ(reordering_text(graph(), graph().order(), move("g2", range.current - 1)), "");
  EXPECT_EQ(reordering_text(graph(), graph().order(), move("v1", range.current)), "");
}

TEST_F(MovesTest, next_change_has_different_figures) {
  const MovePreview preview(*what_if_->preview(std::vector{node("v1")}), 1LL << 40);
  const std::size_t next = preview.next_change(preview.first(), 1);
  EXPECT_GT(next, preview.first());
  for (std::size_t gap = preview.first() + 1; gap < next; ++gap)
    EXPECT_EQ(preview.at(gap), preview.at(preview.first()));
  EXPECT_EQ(preview.next_change(preview.last(), 1), preview.last());
  EXPECT_EQ(preview.next_change(preview.first(), -1), preview.first());
  EXPECT_EQ(preview.clamp(0), preview.first());
}

// Without `p` before them, `u` and `s` need less memory, but only a move gathers the block.
TEST_F(MovesTest, block_that_is_not_contiguous_stays_as_it_is_in_its_current_gap) {
  const auto snapshot = test::snapshot_of(R"(
    x: f32[512,512] = input
    p: f32[512,512] = aten.mm(x, x)
    u: f32[4096,4096] = aten.new_zeros(x, [4096, 4096])
    s: f32[] = aten.sum(u)
    q: f32[512,512] = aten.mul.Tensor(x, s)
    r: f32[512,512] = aten.mm(x, x)
    y: f32[512,512] = aten.mm(p, q)
    return [y, r]
  )");
  ASSERT_TRUE(snapshot);
  const Dependencies dependencies(snapshot->graph);
  const WhatIf what_if(snapshot->graph, dependencies, snapshot->analysis.costs);
  const std::vector<NodeId> block{snapshot->graph.find("p"), snapshot->graph.find("q")};
  const RangePreview gathered = *what_if.preview(block);
  ASSERT_LT(gathered.current().peak_bytes, what_if.figures().peak_bytes);
  const RangePreview preview = *preview_moves(what_if, block);
  EXPECT_EQ(preview.current(), what_if.figures());
  EXPECT_EQ(preview.range.last, gathered.range.last);
  EXPECT_EQ(preview.at.back(), gathered.at.back());
  // The block may move to every gap of its range, so there is another gap for no move.
  EXPECT_EQ(preview.range.current + 1, gathered.range.first);
  EXPECT_EQ(preview.at.size(), gathered.at.size() + 1);
}

TEST_F(MovesTest, several_moves_are_one_edit_that_can_be_undone) {
  const std::string before = graph_hash(graph());
  PlannedMoves moves(graph(), *what_if_, 1);
  const auto last = [](const WhatIf&, const LegalRange& range, std::span<const NodeId>) {
    return range.last;
  };
  // The last call cannot be moved.
  for (const char* name : {"v2", "v1", "z"}) moves.add(node(name), last);
  const Edit edit = moves.edit("as late as possible", 3);
  EXPECT_EQ(edit.title, "Move 2 of 3 nodes as late as possible");
  Graph edited = graph();
  const auto inverse = apply(edited, edit);
  ASSERT_TRUE(inverse) << inverse.error().message;
  EXPECT_TRUE(std::ranges::equal(edited.order(), what_if_->order()));
  EXPECT_LT(edited.position(node("b")), edited.position(node("v1")));
  ASSERT_TRUE(apply(edited, *inverse));
  EXPECT_EQ(graph_hash(edited), before);
}

TEST_F(MovesTest, undone_moves_are_made_again_without_asking_their_targets) {
  int asked = 0;
  const auto last = [&asked](const WhatIf&, const LegalRange& range, std::span<const NodeId>) {
    ++asked;
    return range.last;
  };
  PlannedMoves moves(graph(), *what_if_, 1);
  for (const char* name : {"v2", "v1"}) moves.add(node(name), last);
  const std::vector<NodeId> moved(what_if_->order().begin(), what_if_->order().end());
  const Figures figures = what_if_->figures();
  ASSERT_FALSE(std::ranges::equal(moved, graph().order()));
  moves.undo();
  ASSERT_TRUE(std::ranges::equal(graph().order(), what_if_->order()));
  moves.redo();
  EXPECT_TRUE(std::ranges::equal(moved, what_if_->order()));
  EXPECT_EQ(what_if_->figures(), figures);
  EXPECT_EQ(asked, 2);
  Graph edited = graph();
  ASSERT_TRUE(apply(edited, moves.edit("as late as possible", 2)));
  EXPECT_TRUE(std::ranges::equal(edited.order(), moved));
  // They can be undone again.
  moves.undo();
  EXPECT_TRUE(std::ranges::equal(graph().order(), what_if_->order()));
}

TEST_F(MovesTest, start_cannot_move_without_its_chain) {
  const auto snapshot = test::snapshot_of(R"(
    group fsdp: 0 1
    w: bf16[512,512] = parameter
    x: f32[512,512] = input
    a: f32[512,512] = aten.mm(x, x)
    b: f32[512,512] = aten.mm(a, x)
    c: f32[512,512] = aten._to_copy(w, dtype=f32)
    g: f32[1024,512] = _c10d_functional.all_gather_into_tensor(c, 2, 'fsdp')
    v: f32[1024,512] = _c10d_functional.wait_tensor(g)
    y: f32[1024,512] = aten.mm(v, b)
    return [y]
  )");
  ASSERT_TRUE(snapshot);
  const Graph& graph = snapshot->graph;
  const Dependencies dependencies(graph);
  const auto first = [](const WhatIf&, const LegalRange& range, std::span<const NodeId>) {
    return range.first;
  };
  const auto planned = [&](bool is_toggled) {
    WhatIf what_if(graph, dependencies, snapshot->analysis.costs);
    PlannedMoves moves(graph, what_if, -1);
    if (is_toggled) moves.toggle_chains();
    moves.add(graph.find("g"), first);
    Graph edited = graph;
    if (!moves.empty()) {
      const auto done = apply(edited, moves.edit("as early as possible", 1));
      EXPECT_TRUE(done) << done.error().message;
    }
    EXPECT_TRUE(std::ranges::equal(edited.order(), what_if.order()));
    return edited.position(graph.find("g"));
  };
  EXPECT_EQ(planned(true), graph.position(graph.find("g")));
  EXPECT_EQ(planned(false), graph.position(graph.find("a")) + 1) << "its chain is right before it";
}

TEST(PolicyEditTest, selects_nodes_operators_and_similar_modules) {
  const SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
  const Graph& graph = snapshot->graph;
  const ModuleTree& modules = snapshot->analysis.modules;
  const NodeId mm = graph.find("mm");
  EXPECT_EQ(policy_selector(graph, modules, mm, PolicyScope::nodes), "mm");
  EXPECT_EQ(policy_selector(graph, modules, mm, PolicyScope::op), "aten.mm.default");
  EXPECT_EQ(policy_selector(graph, modules, mm, PolicyScope::pattern),
            "layers.*.wq::aten.mm.default");
  Graph edited = graph;
  const Edit edit = policy_edit(graph, modules, std::vector{mm}, PolicyScope::pattern,
                                MemoryPolicy::must_recompute);
  EXPECT_EQ(edit.title, "Recompute layers.*.wq::aten.mm.default");
  const auto inverse = apply(edited, edit);
  ASSERT_TRUE(inverse) << inverse.error().message;
  EXPECT_EQ(edited.node(graph.find("mm_1")).policy, MemoryPolicy::must_recompute);
  ASSERT_TRUE(apply(edited, *inverse));
  EXPECT_EQ(edited.node(graph.find("mm_1")).policy, MemoryPolicy::must_save);
}

TEST(MetricsTest, differences_have_a_sign_and_a_share) {
  EXPECT_EQ(bytes_difference_text(4096, 2048).toStdString(), "\u22122.00 KiB");
  EXPECT_EQ(bytes_difference_text(2048, 4096).toStdString(), "+2.00 KiB");
  EXPECT_EQ(time_difference_text(5, 5).toStdString(), "=");
  EXPECT_EQ(share_difference_text(200, 150).toStdString(), "\u221225.0%");
  EXPECT_EQ(share_difference_text(0, 150).toStdString(), "");
  EXPECT_EQ(figures_difference_text({1, 2, 3}, {1, 2, 3}).toStdString(), "no change");
}

}  // namespace
}  // namespace jointer::views
