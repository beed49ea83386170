// Tests states as a function of the history: choices, undo, solving again, deciders.

#include "views/session/sac/sac_solver.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "core/edit/difference.h"
#include "core/edit/edit.h"
#include "tests/support/graphs.h"
#include "tests/support/joints.h"
#include "tests/support/snapshots.h"
#include "views/session/edit/policy_edit.h"
#include "views/session/sac/plan_edits.h"

namespace jointer::views {
namespace {

class SacSolverTest : public ::testing::Test {
 protected:
  SacSolverTest() : baseline_(test::snapshot_of(test::layered_joint(5))), now_(baseline_) {}

  [[nodiscard]] NodeId node(std::string_view name) const { return baseline_->graph.find(name); }

  // Appends an edit to the history.
  void apply(const Edit& edit) {
    Graph graph = now_->graph;
    Result<Edit> inverse = jointer::apply(graph, edit);
    ASSERT_TRUE(inverse) << inverse.error().message;
    auto next = snapshot_after(*now_, std::move(graph), true);
    ASSERT_TRUE(next);
    now_ = *next;
    history_.push_back(std::make_shared<DoneEdit>(DoneEdit{edit, *std::move(inverse)}));
  }
  void tag(std::string_view name, MemoryPolicy policy, const std::string& by = {}) {
    const std::vector nodes{node(name)};
    Edit edit = policy_edit(now_->graph, now_->analysis.modules, nodes, PolicyScope::nodes, policy);
    edit.by = by;
    apply(edit);
  }
  [[nodiscard]] SacRequest request() const { return {now_, baseline_, history_, {}}; }
  SacStatePtr state() { return state(request()); }
  SacStatePtr state(const SacRequest& request) {
    auto made = solver_.state(request);
    if (!made) ADD_FAILURE() << made.error().message;
    return made ? *made : nullptr;
  }
  [[nodiscard]] const SacTensor& tensor(const SacState& state, std::string_view name) const {
    const SacTensor* found = state.tensor_of(node(name));
    if (found == nullptr) ADD_FAILURE() << name;
    static const SacTensor kNone;
    return found == nullptr ? kNone : *found;
  }

  SacSolver solver_;
  SnapshotPtr baseline_, now_;
  EditHistory history_;
};

TEST_F(SacSolverTest, WithoutEditsItIsThePartitionersPlan) {
  const SacStatePtr s = state();
  ASSERT_TRUE(s && s->can_change());
  const auto solved = partition(baseline_->graph);
  ASSERT_TRUE(solved);
  EXPECT_EQ(s->plan, solved->plan);
  EXPECT_EQ(s->figures, s->base->figures);
  EXPECT_GT(s->figures.figures.peak_bytes, 0);
  for (const SacTensor& t : s->tensors) {
    EXPECT_EQ(t.decider, Decider::partitioner);
    EXPECT_FALSE(why(*s, t).empty());
    EXPECT_FALSE(why_in_short(*s, t).empty());
  }
}

TEST_F(SacSolverTest, ATickBelongsToTheUserAndChangesTheFigures) {
  const SacStatePtr before = state();
  const PlanAction was = tensor(*before, "act0").action;
  tag("act0", was == PlanAction::save ? MemoryPolicy::must_recompute : MemoryPolicy::must_save);
  const SacStatePtr after = state();
  const SacTensor& t = tensor(*after, "act0");
  EXPECT_NE(t.action, was);
  EXPECT_EQ(t.decider, Decider::user);
  EXPECT_NE(why(*after, t).find("by hand"), std::string::npos);
  EXPECT_NE(after->plan, before->plan);
  EXPECT_EQ(after->base, before->base);
}

// The state shown before an edit is applied equals the one afterwards.
TEST_F(SacSolverTest, PreviewEqualsTheResult) {
  SacRequest asked = request();
  asked.choices = {{{node("act0"), node("act1")}, PlanAction::save}};
  const SacStatePtr promised = state(asked);
  tag("act0", MemoryPolicy::must_save);
  tag("act1", MemoryPolicy::must_save);
  const SacStatePtr made = state();
  EXPECT_EQ(made->plan, promised->plan);
  EXPECT_EQ(made->figures, promised->figures);
  EXPECT_EQ(tensor(*promised, "act0").decider, Decider::user);
}

// A list of changes is the user's decision, and may come with an order.
TEST_F(SacSolverTest, AListMayDetermineTheOrder) {
  tag("mm1", MemoryPolicy::must_recompute, decided_with("place_collectives"));
  const SacStatePtr listed = state();
  EXPECT_EQ(listed->order, "place_collectives");
  EXPECT_EQ(tensor(*listed, "mm1").decider, Decider::user);
  tag("mm2", MemoryPolicy::must_recompute);
  EXPECT_EQ(state()->order, "place_collectives") << "a tick keeps the order";
  tag("mm3", MemoryPolicy::must_recompute, decided_with(""));
  EXPECT_EQ(state()->order, "") << "the plan's own order";
  tag("act1", MemoryPolicy::must_recompute, searched_with("raise_comms"));
  EXPECT_EQ(state()->order, "raise_comms");
  tag("act2", MemoryPolicy::must_recompute, decided_with("sink_waits"));
  EXPECT_EQ(state()->order, "sink_waits");
  apply(solve_edit({}));
  EXPECT_EQ(state()->order, "");
}

// The passes of the order run on the pair of the graph with the move.
TEST_F(SacSolverTest, MovesKeepTheOrder) {
  tag("mm1", MemoryPolicy::must_recompute, searched_with("sink_waits"));
  const EditHistory planned = history_;
  apply({.title = "Move t3", .changes = {MoveNodes{.nodes = {"t3"}, .before = "e3"}}});
  EXPECT_EQ(state()->order, "sink_waits");
  const OrderChange moved = order_change(planned, history_, SacKind::joint);
  EXPECT_FALSE(moved.is_dropped);
  EXPECT_NE(moved.sentence.find("(sink_waits) run on the pair"), std::string::npos);
  EXPECT_EQ(order_change({}, planned, SacKind::joint).sentence, "");
  // Also moves of a pass, unless it belongs to the order and has been run on the step itself.
  const EditHistory before = history_;
  apply({.title = "sink_waits",
         .by = "sink_waits",
         .changes = {MoveNodes{.nodes = {"t2"}, .before = "e2"}}});
  EXPECT_EQ(state()->order, "sink_waits");
  EXPECT_EQ(order_in_effect(before, SacKind::step), "sink_waits");
  EXPECT_EQ(order_in_effect(history_, SacKind::step), "");
  EXPECT_TRUE(order_change(before, history_, SacKind::step).is_dropped);
}

TEST_F(SacSolverTest, AnOrderThatEndsSaysWhy) {
  tag("mm1", MemoryPolicy::must_recompute, searched_with("sink_waits"));
  const EditHistory planned = history_;
  apply(solve_edit({}));
  const OrderChange solved = order_change(planned, history_, SacKind::joint);
  EXPECT_TRUE(solved.is_dropped);
  EXPECT_EQ(solved.sentence,
            "The order found for the plan (sink_waits) ends here: the graph is solved again, and "
            "the new plan is in its own order.");
  // Entries after that change nothing.
  const EditHistory without = history_;
  tag("mm2", MemoryPolicy::must_recompute);
  EXPECT_FALSE(order_change(without, history_, SacKind::joint).is_dropped);
  // Another plan replaces the order.
  history_ = planned;
  tag("mm2", MemoryPolicy::must_recompute, searched_with(""));
  EXPECT_FALSE(order_change(planned, history_, SacKind::joint).is_dropped);
  // Calls change.
  EditHistory changed = planned;
  const Edit erase{.title = "Remove t3", .changes = {RemoveNode{}}};
  changed.push_back(std::make_shared<DoneEdit>(DoneEdit{erase, {}}));
  EXPECT_EQ(order_in_effect(changed, SacKind::joint), "");
  const OrderChange removed = order_change(planned, changed, SacKind::joint);
  EXPECT_TRUE(removed.is_dropped);
  EXPECT_NE(removed.sentence.find("removes or changes calls"), std::string::npos);
}

TEST_F(SacSolverTest, UndoRestoresThePreviousState) {
  const SacRequest before = request();
  const SacStatePtr first = state(before);
  tag("mm1", MemoryPolicy::must_recompute);
  const SacRequest ticked = request();
  const SacStatePtr second = state(ticked);
  const SacStatePtr undone = state(before), redone = state(ticked);
  EXPECT_EQ(undone->plan, first->plan);
  EXPECT_EQ(undone->figures, first->figures);
  EXPECT_EQ(redone->plan, second->plan);
  EXPECT_EQ(redone->figures, second->figures);
}

TEST_F(SacSolverTest, AfterRedoAddedNodesMayHaveOtherIds) {
  std::string text = test::layered_joint(5);
  text.insert(text.find("act1:"), "again: f32[64,64] = aten.sigmoid(mm0)  {layers.0}\n");
  const Edit edit = difference(baseline_->graph, test::parse(text)).value();
  Graph graph = baseline_->graph;
  const Edit inverse = jointer::apply(graph, edit).value();
  history_.push_back(std::make_shared<DoneEdit>(DoneEdit{edit, inverse}));
  now_ = snapshot_after(*baseline_, graph, false).value();
  const NodeId added = now_->graph.find("again");
  ASSERT_TRUE(state());
  ASSERT_TRUE(jointer::apply(graph, inverse));
  ASSERT_TRUE(jointer::apply(graph, edit));
  now_ = snapshot_after(*baseline_, graph, false).value();
  ASSERT_NE(now_->graph.find("again"), added);
  const SacStatePtr redone = state();
  ASSERT_TRUE(redone);
  EXPECT_EQ(redone->base->snapshot->graph.find("again"), now_->graph.find("again"));
  EXPECT_EQ(redone->tensor_by_node.size(), now_->graph.node_count());
}

TEST_F(SacSolverTest, TheOrderOfTicksMakesNoDifference) {
  tag("mm0", MemoryPolicy::must_recompute);
  tag("act1", MemoryPolicy::must_save);
  const SacStatePtr one = state();
  history_.clear();
  now_ = baseline_;
  tag("act1", MemoryPolicy::must_save);
  tag("mm0", MemoryPolicy::must_recompute);
  const SacStatePtr other = state();
  EXPECT_EQ(one->plan, other->plan);
  EXPECT_EQ(one->figures, other->figures);
}

TEST_F(SacSolverTest, SolvingAgainRespectsTicksAndAddsAnEntry) {
  tag("act0", MemoryPolicy::must_save);
  const SacRequest ticked = request();
  apply(solve_edit({}));
  const SacStatePtr solved = state();
  EXPECT_NE(solved->base, state(ticked)->base);
  EXPECT_EQ(tensor(*solved, "act0").action, PlanAction::save);
  apply(solve_edit({.activation_budget = 0}));
  const SacStatePtr smallest = state();
  EXPECT_EQ(smallest->base->settings.activation_budget, 0);
  EXPECT_LE(smallest->figures.saved_bytes, solved->figures.saved_bytes);
  // Going back in the history restores the base at that position.
  EXPECT_EQ(state(ticked)->base->settings, SolveSettings());
}

TEST_F(SacSolverTest, IgnoredTagsDecideNothing) {
  tag("act0", MemoryPolicy::must_save);
  apply(solve_edit({.ignore_tags = true}));
  const SacStatePtr s = state();
  EXPECT_EQ(tensor(*s, "act0").decider, Decider::partitioner);
  auto free = partition(baseline_->graph);
  ASSERT_TRUE(free);
  EXPECT_EQ(s->plan, free->plan);
}

TEST_F(SacSolverTest, ListsAreDistinguishedFromUsers) {
  tag("act0", MemoryPolicy::must_save, "apply_sac{save=[aten.mm]}");
  EXPECT_EQ(tensor(*state(), "act0").decider, Decider::list);
  tag("act1", MemoryPolicy::must_save, "apply_sac");
  EXPECT_EQ(tensor(*state(), "act1").decider, Decider::preset);
  EXPECT_NE(why(*state(), tensor(*state(), "act1")).find("by a preset"), std::string::npos);
}

TEST_F(SacSolverTest, ImpossibleRequestsAreRefusedInASentence) {
  SacRequest asked = request();
  // The backward does not need it.
  asked.choices = {{{node("y")}, PlanAction::offload}};
  const auto made = solver_.state(asked);
  ASSERT_FALSE(made);
  EXPECT_FALSE(made.error().message.empty());
}

TEST_F(SacSolverTest, RowsStayWhileTheUserTicks) {
  const SacStatePtr before = state();
  tag("out0", MemoryPolicy::must_save);
  const SacStatePtr after = state();
  for (const SacTensor& t : before->tensors) EXPECT_NE(after->tensor_of(t.node), nullptr);
}

// As of a node that an edit added: after undo and redo, it may have another id.
TEST(PolicyTrailTest, FollowsANodeWhoseIdHasChanged) {
  const auto graph_with = [](int others) {
    std::string text = "x: f32[8] = input\n";
    for (int i = 0; i < others; ++i) text += fmt::format("a{}: f32[8] = aten.relu(x)\n", i);
    return test::snapshot_of(text + "b: f32[8] = aten.sin(x)\nreturn [b]\n");
  };
  const SnapshotPtr opened = graph_with(0), large = graph_with(20), small = graph_with(2);
  const Edit edit{
      .title = "Save b",
      .changes = {SetPolicy{.policy = MemoryPolicy::must_save, .nodes = {std::string("b")}}}};
  const EditHistory history{std::make_shared<DoneEdit>(DoneEdit{edit, {}})};
  PolicyTrails trails;
  for (const SnapshotPtr& now : {large, small, large}) {
    const NodeId b = now->graph.find("b");
    const PolicyTrail trail = trails.follow(opened->graph, now->graph, history, 1);
    ASSERT_EQ(trail.policies.size(), now->graph.node_count());
    EXPECT_EQ(trail.policies[b.index()], MemoryPolicy::must_save);
    EXPECT_EQ(trail.edits[b.index()], 0);
  }
}

TEST_F(SacSolverTest, OtherGraphsAreShownUnchanged) {
  baseline_ = now_ = test::snapshot_of(R"(
    x: f32[8,64] = input
    a: f32[8,64] = aten.relu(x)
    return [a]
  )");
  // A literal is a joint graph; a single half has no partition to choose.
  Graph graph = now_->graph;
  graph.part(PartId(0)).kind = CaptureKind::forward;
  auto half = make_snapshot(std::move(graph), {});
  ASSERT_TRUE(half);
  const auto s = solver_.state({*half, *half, {}, {}});
  ASSERT_TRUE(s);
  EXPECT_FALSE((*s)->can_change());
  EXPECT_EQ((*s)->figures.figures.peak_bytes, (*half)->analysis.memory.peak_bytes());
}

}  // namespace
}  // namespace jointer::views
