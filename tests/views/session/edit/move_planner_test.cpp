// Tests moves whose what-if, edits or plans are still being computed: a pool held by the test
// decides when each of them is ready.

#include "views/session/edit/move_planner.h"

#include <gtest/gtest.h>

#include <QTest>

#include "core/compiled/compiled_step.h"
#include "core/edit/moves.h"
#include "tests/support/held_pool.h"
#include "tests/support/two_gathers.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"

namespace jointer::views {
namespace {

// A gather of the result of a cast, which is not directly before it.
constexpr std::string_view kGatherAfterCast = R"(
  group fsdp: 0 1
  x: f32[512,512] = input
  w: bf16[512,512] = input
  c: f32[512,512] = aten._to_copy(w, dtype=f32)
  a: f32[512,512] = aten.mm(x, x)
  b: f32[512,512] = aten.mm(a, x)
  g: f32[1024,512] = _c10d_functional.all_gather_into_tensor(c, 2, 'fsdp')
  v: f32[1024,512] = _c10d_functional.wait_tensor(g)
  y: f32[1024,512] = aten.mm(v, b)
  return [y]
)";

class MovePlannerTest : public test::TwoGathers {
 protected:
  void SetUp() override {
    TwoGathers::SetUp();
    pool = std::make_unique<test::HeldPool>();
    open();
  }
  void TearDown() override {
    document.reset();
    pool.reset();
  }

  void open() {
    document = std::make_unique<Document>(OpenRequest{.path = "/tmp/graph.json"}, snapshot_);
    QObject::connect(&planner(), &MovePlanner::refused,
                     [this](const QString& why) { refusals << why; });
    QObject::connect(&editing(), &Editing::refused,
                     [this](const QString& why) { refusals << why; });
  }

  void open(std::string_view literal) {
    document.reset();
    refusals.clear();
    snapshot_ = test::snapshot_of(literal);
    open();
  }
  void open_with_unused_node() {
    open(R"(
      x: f32[512,512] = input
      a: f32[512,512] = aten.mm(x, x)
      d: f32[512,512] = aten.mm(x, x)
      c: f32[512,512] = aten.mm(x, x)
      b: f32[512,512] = aten.mm(a, c)
      return [b]
    )");
  }

  [[nodiscard]] Editing& editing() const { return document->editing(); }
  [[nodiscard]] MovePlanner& planner() const { return editing().planner(); }
  [[nodiscard]] std::size_t position(const char* name) const {
    return document->graph().position(node(name));
  }
  void select(std::initializer_list<const char*> names) const {
    std::vector<NodeId> nodes;
    for (const char* name : names) nodes.push_back(node(name));
    document->selection().select_all(nodes);
  }
  // Runs what has been started, and then delivers it.
  void run() const { pool->run_all(1); }
  void run_all() const {
    for (int i = 0; i < 20; ++i) run();
    EXPECT_TRUE(editing().is_settled());
  }
  // Picks up a node, and returns what is held once that is known.
  const auto* hold(NodeId taken) const {
    planner().take(taken);
    run_all();
    return planner().held();
  }
  void move(const char* name, const char* before) const {
    const auto edit = move_edit(document->graph(), std::vector{node(name)}, node(before));
    ASSERT_TRUE(edit) << edit.error().message;
    editing().apply(*edit);
  }

  std::unique_ptr<test::HeldPool> pool;
  std::unique_ptr<Document> document;
  QStringList refusals;
};

TEST_F(MovePlannerTest, CommandThatFollowsAPickUpMovesTheHeldBlock) {
  select({"v1"});
  planner().take(node("v1"));
  planner().nudge(1);
  EXPECT_TRUE(planner().is_taking());
  EXPECT_EQ(planner().held(), nullptr);
  run();
  ASSERT_NE(planner().held(), nullptr);
  EXPECT_EQ(planner().held()->gap, planner().held()->preview.current() + 1);
  EXPECT_TRUE(planner().is_ready()) << "no command uses the what-if of the held block";
  const std::size_t before = position("v1");
  planner().set_carry(true);
  planner().set_carry(false);
  planner().drop();
  run_all();
  EXPECT_EQ(position("v1"), before + 1);
  EXPECT_EQ(editing().entry_count(), 1);
  EXPECT_EQ(refusals, QStringList());
}

// A preview starts from the estimates of the compiled step; after the drop, the kernels are
// predicted for the new order, and undo returns to the old ones.
TEST_F(MovePlannerTest, MovesInACompiledStep) {
  AnalysisOptions options = document->wanted_options();
  options.execution = Execution::inductor;
  document->analyze_with(options);
  run_all();
  ASSERT_TRUE(document->analysis().compiled);
  const auto figures = [this] {
    return figures_of(metrics_of(document->graph(), document->analysis()));
  };
  const Figures before = figures();
  select({"v1"});
  planner().take(node("v1"));
  run();
  ASSERT_NE(planner().held(), nullptr);
  EXPECT_EQ(planner().held()->figures(), before);
  planner().nudge(1);
  planner().drop();
  run_all();
  EXPECT_EQ(editing().entry_count(), 1);
  ASSERT_TRUE(document->analysis().compiled);
  const auto again = analyze_step(document->graph(), options);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(figures(), figures_of(metrics_of(document->graph(), *again)));
  editing().undo();
  run_all();
  EXPECT_EQ(figures(), before);
  EXPECT_EQ(document->analysis().options.execution, Execution::inductor);
  EXPECT_EQ(refusals, QStringList());
}

TEST_F(MovePlannerTest, GivingUpAPickUpDropsItsCommands) {
  select({"v1"});
  planner().take(node("v1"));
  planner().to_end(1);
  planner().give_up();
  ASSERT_NE(hold(node("v2")), nullptr);
  EXPECT_EQ(planner().held()->handle, node("v2"));
  EXPECT_EQ(planner().held()->gap, planner().held()->preview.current());
  EXPECT_EQ(editing().entry_count(), 0);
}

TEST_F(MovePlannerTest, PickUpWaitsForTheCommandBeforeIt) {
  select({"v1"});
  planner().nudge(1);
  planner().take(node("v1"));
  run();  // the what-if; the command has started
  EXPECT_EQ(planner().held(), nullptr);
  EXPECT_FALSE(planner().is_ready());
  run_all();
  ASSERT_NE(planner().held(), nullptr);
  EXPECT_EQ(planner().held()->from, document->shared_snapshot());
  EXPECT_EQ(editing().entry_count(), 1);
}

TEST_F(MovePlannerTest, RequestsApplyToTheSelectionAtThatTime) {
  select({"v1"});
  planner().to_end(1);
  select({"v2"});
  const std::size_t other = position("a");
  run_all();
  EXPECT_EQ(position("v1"), position("y") - 1);
  EXPECT_EQ(position("a"), other - 1);
  ASSERT_EQ(editing().entry_count(), 1);

  select({"a", "v1"});
  editing().undo();
  planner().take(node("a"));
  select({"a"});
  run_all();
  ASSERT_NE(planner().held(), nullptr);
  EXPECT_EQ(planner().held()->block.size(), 2U);
  select({});
  planner().set_carry(true);
  EXPECT_GE(planner().held()->block.size(), 2U);
}

// The start needs its cast to move earlier, and the wait its cast to move later. The peak is
// elsewhere.
TEST_F(MovePlannerTest, BestPositionIsThatOfTheWholeCollective) {
  for (const char* selected : {"g", "v"}) {
    open(R"(
      group fsdp: 0 1
      s: f32[1024,1024] = input
      x: f32[4096,4096] = input
      w: bf16[2048,4096] = input
      t: f32[16384,4096] = aten.new_zeros(s, [16384, 4096])
      u: f32[] = aten.sum(t)
      a: f32[1024,1024] = aten.mm(s, s)
      c: f32[2048,4096] = aten._to_copy(w, dtype=f32)
      g: f32[4096,4096] = _c10d_functional.all_gather_into_tensor(c, 2, 'fsdp')
      v: f32[4096,4096] = _c10d_functional.wait_tensor(g)
      d: bf16[4096,4096] = aten._to_copy(v, dtype=bf16)
      b: f32[4096,4096] = aten.mm(x, x)
      e: bf16[4096,4096] = aten._to_copy(b, dtype=bf16)
      y: bf16[4096,4096] = aten.mm(d, e)
      return [y, a, u]
    )");
    const std::int64_t exposed = document->analysis().simulation.exposed_ns();
    select({selected});
    planner().to_best(true);
    run_all();
    EXPECT_EQ(editing().entry_count(), 0);
    ASSERT_EQ(refusals.size(), 1);
    EXPECT_TRUE(refusals.front().startsWith("No other position is better. Held by "));
    EXPECT_TRUE(refusals.front().endsWith(" first."));
    planner().to_best();
    run_all();
    EXPECT_EQ(editing().entry_count(), 1);
    EXPECT_LT(position("c"), position("a"));
    EXPECT_GT(position("v"), position("b"));
    EXPECT_LT(document->analysis().simulation.exposed_ns(), exposed);
  }
}

// The cast that feeds the second gather cannot pass its other reader, and the first gather is
// needed before the second. The peak is elsewhere.
TEST_F(MovePlannerTest, BestPositionMayBeThatWithoutTheChain) {
  for (const char* selected : {"g", "v"}) {
    open(R"(
      group fsdp: 0 1
      s: f32[2048,4096] = input
      w: bf16[2048,4096] = input
      x: f32[4096,4096] = input
      t: f32[16384,4096] = aten.new_zeros(s, [16384, 4096])
      p: f32[] = aten.sum(t)
      c: f32[2048,4096] = aten._to_copy(w, dtype=f32)
      u: f32[] = aten.sum(c)
      h: f32[4096,4096] = _c10d_functional.all_gather_into_tensor(s, 2, 'fsdp')
      hv: f32[4096,4096] = _c10d_functional.wait_tensor(h)
      b: f32[] = aten.sum(hv)
      e: f32[4096,4096] = aten.mm(x, x)
      g: f32[4096,4096] = _c10d_functional.all_gather_into_tensor(c, 2, 'fsdp')
      v: f32[4096,4096] = _c10d_functional.wait_tensor(g)
      y: f32[4096,4096] = aten.mm(v, e)
      return [y, u, b, p]
    )");
    const std::int64_t exposed = document->analysis().simulation.exposed_ns();
    select({selected});
    planner().to_best();
    run_all();
    EXPECT_EQ(refusals, QStringList()) << selected;
    ASSERT_EQ(editing().entry_count(), 1) << selected;
    EXPECT_GT(position("g"), position("h"));
    EXPECT_LT(position("g"), position("e"));
    EXPECT_LT(document->analysis().simulation.exposed_ns(), exposed);
  }
}

TEST_F(MovePlannerTest, AHeldBlockAtItsBestPositionSaysWhatBlocksIt) {
  open(R"(
    group tp: 0 1
    x: f32[512,512] = input
    a: f32[512,512] = aten.mm(x, x)
    r: f32[512,512] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    v: f32[512,512] = _c10d_functional.wait_tensor(r)
    y: f32[512,512] = aten.mm(v, x)
    return [y]
  )");
  ASSERT_NE(hold(node("r")), nullptr);
  planner().to_best();
  ASSERT_EQ(refusals.size(), 1);
  EXPECT_TRUE(refusals.front().startsWith("No other position is better. Held by a"))
      << refusals.front().toStdString();
  EXPECT_TRUE(refusals.front().contains(planner().held()->latest));
}

TEST_F(MovePlannerTest, RequestsForRemovedNodesAreRefused) {
  open_with_unused_node();
  editing().apply({.title = "Remove d", .changes = {RemoveNode{.node = "d"}}});
  select({"d"});
  planner().nudge(-1);
  planner().take(node("d"));
  run_all();
  ASSERT_EQ(editing().entry_count(), 1);
  EXPECT_EQ(planner().held(), nullptr);
  EXPECT_FALSE(planner().is_taking());
  EXPECT_EQ(refusals, QStringList("The selection is no longer in the graph."));
}

TEST_F(MovePlannerTest, CommandIsRepeatedIfTheGraphIsEditedMeanwhile) {
  planner().prepare();
  run();
  select({"v1"});
  planner().to_end(1);  // starts at once
  EXPECT_FALSE(planner().is_ready());
  move("b", "a");  // refused: it reads `a`
  move("v2", "z");
  move("g2", "a");
  run_all();
  EXPECT_EQ(refusals.size(), 1) << refusals.join('\n').toStdString();
  EXPECT_EQ(position("v1"), position("y") - 1);
  EXPECT_LT(position("g2"), position("a"));
  EXPECT_EQ(editing().entry_count(), 3);
  EXPECT_TRUE(planner().is_ready());
}

TEST_F(MovePlannerTest, OutdatedWhatIfDoesNotReplaceThatOfAHeldBlock) {
  open_with_unused_node();
  planner().prepare();
  run();
  ASSERT_TRUE(planner().is_ready());
  // Without `d`, another what-if is needed. It is ready when `d` is back.
  editing().apply({.title = "Remove d", .changes = {RemoveNode{.node = "d"}}});
  editing().undo();
  QObject::connect(document.get(), &Document::changed, document.get(), [this] {
    if (planner().is_ready()) planner().take(node("c"));
  });
  run_all();
  ASSERT_NE(planner().held(), nullptr);
  EXPECT_TRUE(planner().is_ready());
  planner().to_end(-1);
  planner().drop();
  run_all();
  EXPECT_LT(position("c"), position("a"));
  EXPECT_EQ(refusals, QStringList());
}

TEST_F(MovePlannerTest, RefusedEditFromElsewhereKeepsAHeldBlock) {
  planner().prepare();
  run();
  planner().take(node("v1"));
  ASSERT_NE(planner().held(), nullptr);
  move("b", "a");
  run_all();
  EXPECT_EQ(refusals.size(), 1);
  ASSERT_NE(planner().held(), nullptr);
  planner().set_carry(true);
  planner().set_carry(false);
  planner().to_end(1);
  planner().drop();
  run_all();
  EXPECT_EQ(position("v1"), position("y") - 1);
}

TEST_F(MovePlannerTest, AnotherBlockDoesNotShowTheFirstOnesPosition) {
  planner().prepare();
  run();
  planner().take(node("v1"));
  planner().to_end(1);  // its graph is being computed
  planner().give_up();
  ASSERT_NE(hold(node("g2")), nullptr);
  EXPECT_EQ(planner().held()->shown, planner().held()->from);
  planner().to_end(-1);
  run_all();
  EXPECT_EQ(planner().held()->shown->graph.position(node("g2")), planner().held()->gap);
}

TEST_F(MovePlannerTest, BlockThatReturnsIsShownWhereItIs) {
  planner().prepare();
  run();
  planner().take(node("v1"));
  planner().nudge(1);
  pool->run_started();  // computed, but not delivered
  planner().nudge(-1);
  run_all();
  EXPECT_EQ(planner().held()->shown, planner().held()->from);
}

// Nodes that are not adjacent are gathered only by a move.
TEST_F(MovePlannerTest, HeldNodesThatAreNotAdjacentStayWhereTheyAreUntilMoved) {
  open(R"(
    x: f32[512,512] = input
    p: f32[512,512] = aten.mm(x, x)
    u: f32[4096,4096] = aten.new_zeros(x, [4096, 4096])
    s: f32[] = aten.sum(u)
    q: f32[512,512] = aten.mul.Tensor(x, s)
    r: f32[512,512] = aten.mm(x, x)
    y: f32[512,512] = aten.mm(p, q)
    return [y, r]
  )");
  const Figures before = figures_of(metrics_of(document->graph(), document->analysis()));
  select({"p", "q"});
  ASSERT_NE(hold(node("p")), nullptr);
  EXPECT_EQ(planner().held()->block.size(), 2U);
  EXPECT_EQ(planner().held()->figures(), before);
  EXPECT_EQ(planner().held()->shown, planner().held()->from);
  planner().nudge(1);
  EXPECT_LT(planner().held()->figures().peak_bytes, before.peak_bytes);
  planner().nudge(-1);
  EXPECT_EQ(planner().held()->figures(), before);
  planner().drop();
  run_all();
  EXPECT_EQ(planner().held(), nullptr);
  EXPECT_EQ(editing().entry_count(), 0);
  EXPECT_LT(position("p"), position("u"));
  EXPECT_EQ(refusals, QStringList());
}

// The cast is not right before the gather.
TEST_F(MovePlannerTest, IncludingOrExcludingAChainIsNoMove) {
  open(kGatherAfterCast);
  ASSERT_NE(hold(node("g")), nullptr);
  EXPECT_EQ(planner().held()->block.size(), 2U);
  for (const bool carry : {false, true}) {
    planner().set_carry(carry);
    EXPECT_EQ(planner().held()->gap, planner().held()->preview.current()) << carry;
  }
  planner().set_carry(false);
  planner().drop();
  run_all();
  EXPECT_EQ(editing().entry_count(), 0);
  EXPECT_GT(position("g"), position("b"));
}

TEST_F(MovePlannerTest, AStartIsHeldAloneIfItsChainCannotBeNextToIt) {
  open(R"(
    group fsdp: 0 1
    w: bf16[512,512] = input
    z: f32[512,512] = input
    c: f32[512,512] = aten._to_copy(w, dtype=f32)
    k: f32[512,512] = aten.copy_(c, z)
    a: f32[512,512] = aten.mm(z, z)
    g: f32[1024,512] = _c10d_functional.all_gather_into_tensor(c, 2, 'fsdp')
    v: f32[1024,512] = _c10d_functional.wait_tensor(g)
    y: f32[1024,512] = aten.mm(v, a)
    return [y]
  )");
  ASSERT_NE(hold(node("g")), nullptr);
  EXPECT_EQ(planner().held()->block, std::vector{node("g")});
  EXPECT_FALSE(planner().held()->carries);
  EXPECT_EQ(planner().held()->carried,
            "Moves without its chain: c and g cannot be adjacent: k must stay between them.");
  EXPECT_EQ(refusals, QStringList());
  planner().nudge(-1);
  const std::size_t gap = planner().held()->gap;
  planner().set_carry(true);
  EXPECT_EQ(refusals, QStringList("c and g cannot be adjacent: k must stay between them"));
  EXPECT_EQ(planner().held()->gap, gap);
  planner().drop();
  run_all();
  EXPECT_LT(position("g"), position("a"));
}

TEST_F(MovePlannerTest, TheStartAndTheWaitOfACollectiveAreNotTakenTogether) {
  for (const char* taken : {"g1", "v1"}) {
    select({"g1", "v1"});
    ASSERT_NE(hold(node(taken)), nullptr);
    EXPECT_EQ(planner().held()->block, std::vector{node(taken)});
    planner().give_up();
  }
  select({"g1", "g2"});
  ASSERT_NE(hold(node("g1")), nullptr);
  EXPECT_EQ(planner().held()->block.size(), 2U) << "two starts move together";
}

// Gaps are numbered without the block: the gather's gaps after its cast have other numbers if the
// cast moves as well.
TEST_F(MovePlannerTest, IncludingOrExcludingAChainKeepsThePosition) {
  open(kGatherAfterCast);
  ASSERT_NE(hold(node("g")), nullptr);
  ASSERT_EQ(planner().held()->block.size(), 2U);
  planner().nudge(1);
  const std::size_t with_chain = planner().held()->gap;
  planner().set_carry(false);
  EXPECT_EQ(planner().held()->gap, with_chain + 1);
  planner().set_carry(true);
  EXPECT_EQ(planner().held()->gap, with_chain);
  planner().set_carry(false);
  planner().drop();
  run_all();
  EXPECT_LT(position("a"), position("g")) << "the position of the block with the chain";
  EXPECT_LT(position("g"), position("b"));
}

TEST_F(MovePlannerTest, CancelledCommandChangesNothing) {
  planner().prepare();
  run();
  select({"v1", "v2"});
  planner().to_end(1);
  planner().cancel();
  run_all();
  EXPECT_EQ(editing().entry_count(), 0);
  EXPECT_EQ(refusals, QStringList());
  EXPECT_TRUE(planner().is_ready());
}

}  // namespace
}  // namespace jointer::views
