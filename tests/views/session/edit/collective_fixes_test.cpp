// Tests the gains of moving a collective: the promised figures are those of the edited graph.

#include "views/session/edit/collective_fixes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/layered_gathers.h"
#include "tests/support/snapshots.h"
#include "views/session/edit/edit_history.h"
#include "views/session/edit/metrics.h"

namespace jointer::views {
namespace {

class CollectiveFixesTest : public testing::Test {
 protected:
  void open(const std::string& literal) {
    snapshot_ = test::snapshot_of(literal);
    ASSERT_TRUE(snapshot_);
    finder_ = std::make_unique<FixFinder>(snapshot_, std::int64_t{1} << 50);
  }
  void SetUp() override { open(test::layered_gathers(4)); }

  [[nodiscard]] CollectiveFixes find(const char* name) const {
    auto fixes = finder_->find(snapshot_->graph.find(name), never_);
    EXPECT_TRUE(fixes) << fixes.error().message;
    return fixes.value_or(CollectiveFixes{});
  }
  // The metrics of the graph after an edit, computed anew.
  [[nodiscard]] Figures figures_after(const Edit& edit) const {
    Graph graph = snapshot_->graph;
    const auto done = apply(graph, edit);
    EXPECT_TRUE(done) << done.error().message;
    const auto after = snapshot_after(*snapshot_, std::move(graph), false);
    EXPECT_TRUE(after);
    return figures_of(metrics_of((*after)->graph, (*after)->analysis));
  }

  SnapshotPtr snapshot_;
  std::unique_ptr<FixFinder> finder_;
  std::atomic<bool> never_ = false;
};

TEST_F(CollectiveFixesTest, PromisesTheFiguresOfTheEditedGraph) {
  const CollectiveFixes fixes = find("g2");
  EXPECT_EQ(fixes.before, figures_of(metrics_of(snapshot_->graph, snapshot_->analysis)));
  for (const FixKind kind : {FixKind::alone, FixKind::with_chains, FixKind::all_layers}) {
    const CollectiveFix& fix = fixes.of(kind);
    ASSERT_TRUE(fix.edit) << fix.why_not;
    EXPECT_EQ(fix.after, figures_after(*fix.edit)) << fix.edit->title;
    EXPECT_GT(fixes.gained_ns(kind), 0);
  }
}

TEST_F(CollectiveFixesTest, AllLayersGainMoreThanOne) {
  const CollectiveFixes fixes = find("g2");
  EXPECT_EQ(fixes.of(FixKind::all_layers).layers, 4U);
  EXPECT_GT(fixes.gained_ns(FixKind::all_layers), 3 * fixes.gained_ns(FixKind::alone));
  EXPECT_EQ(fixes.of(FixKind::all_layers).edit->title,
            fixes.of(*fixes.best()).edit->title + " in 4 layers");
}

TEST_F(CollectiveFixesTest, EveryMoveIsUndone) {
  const CollectiveFixes first = find("g1");
  EXPECT_TRUE(find("g2").best());
  const CollectiveFixes again = find("g1");
  for (const FixKind kind : {FixKind::alone, FixKind::with_chains, FixKind::all_layers}) {
    EXPECT_EQ(first.of(kind).edit, again.of(kind).edit);
    EXPECT_EQ(first.of(kind).after, again.of(kind).after);
  }
}

TEST_F(CollectiveFixesTest, TheChainMovesTooIfThatIsBetter) {
  open(R"(
    group fsdp: 0 1
    w: bf16[2048,4096] = parameter
    x: f32[4096,4096] = input
    a: f32[4096,4096] = aten.mm(x, x)
    c: f32[2048,4096] = aten._to_copy(w, dtype=f32)
    g: f32[4096,4096] = _c10d_functional.all_gather_into_tensor(c, 2, 'fsdp')
    v: f32[4096,4096] = _c10d_functional.wait_tensor(g)
    y: f32[4096,4096] = aten.mm(v, a)
    return [y]
  )");
  const CollectiveFixes fixes = find("g");
  EXPECT_FALSE(fixes.of(FixKind::alone).edit);
  EXPECT_THAT(fixes.of(FixKind::alone).why_not, testing::HasSubstr("Held by c"));
  ASSERT_TRUE(fixes.of(FixKind::with_chains).edit);
  EXPECT_EQ(fixes.best(), FixKind::with_chains);
  EXPECT_FALSE(fixes.of(FixKind::all_layers).edit);
  EXPECT_THAT(fixes.of(FixKind::all_layers).why_not,
              testing::HasSubstr("does not belong to a layer"));
}

TEST_F(CollectiveFixesTest, SaysWhyNothingSavesTime) {
  open(R"(
    group tp: 0 1
    x: f32[4096,4096] = input
    a: f32[4096,4096] = aten.mm(x, x)
    r: f32[4096,4096] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    v: f32[4096,4096] = _c10d_functional.wait_tensor(r)
    y: f32[4096,4096] = aten.mm(v, x)
    return [y]
  )");
  const CollectiveFixes fixes = find("r");
  EXPECT_FALSE(fixes.best());
  for (const CollectiveFix& fix : fixes.by_kind) {
    EXPECT_FALSE(fix.edit);
    EXPECT_EQ(fix.after, fixes.before);
    EXPECT_THAT(fix.why_not, testing::HasSubstr("Held by a"));
  }
}

TEST_F(CollectiveFixesTest, StaysBelowThePeakLimit) {
  const std::int64_t peak = snapshot_->analysis.memory.peak_bytes();
  finder_ = std::make_unique<FixFinder>(snapshot_, peak);
  for (const char* name : {"g0", "g1", "g2", "g3"}) {
    const CollectiveFixes fixes = find(name);
    for (const FixKind kind : {FixKind::alone, FixKind::with_chains})
      EXPECT_LE(fixes.of(kind).after.peak_bytes, peak) << name;
  }
}

TEST_F(CollectiveFixesTest, EndsWhenCancelled) {
  const std::atomic<bool> cancelled = true;
  const auto fixes = finder_->find(snapshot_->graph.find("g1"), cancelled);
  ASSERT_FALSE(fixes);
  EXPECT_EQ(fixes.error().kind, Error::Kind::cancelled);
  EXPECT_FALSE(finder_->find(snapshot_->graph.find("a1"), never_)) << "it starts no collective";
}

}  // namespace
}  // namespace jointer::views
