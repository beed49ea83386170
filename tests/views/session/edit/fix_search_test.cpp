// The search for fixes in the background: a pool held by the test decides when each job is done.

#include "views/session/edit/fix_search.h"

#include <gtest/gtest.h>

#include "core/edit/moves.h"
#include "core/graph/canonical.h"
#include "tests/support/held_pool.h"
#include "tests/support/layered_gathers.h"
#include "tests/support/snapshots.h"
#include "views/session/document/document.h"
#include "views/session/edit/editing.h"
#include "views/session/edit/metrics.h"

namespace jointer::views {
namespace {

class FixSearchTest : public testing::Test {
 protected:
  void SetUp() override {
    pool = std::make_unique<test::HeldPool>();
    document = std::make_unique<Document>(OpenRequest{.path = "/tmp/graph.json"},
                                          test::snapshot_of(test::layered_gathers(3)));
    search = std::make_unique<FixSearch>(*document, document->editing());
    QObject::connect(search.get(), &FixSearch::fixes_found, [this](NodeId start) {
      found.push_back(std::string(document->graph().name(start)));
    });
    QObject::connect(search.get(), &FixSearch::refused,
                     [this](const QString& why) { refusals << why; });
  }
  void TearDown() override {
    search.reset();
    document.reset();
    pool.reset();
  }
  [[nodiscard]] NodeId node(const char* name) const { return document->graph().find(name); }
  [[nodiscard]] Editing& editing() const { return document->editing(); }
  [[nodiscard]] std::string hash() const { return graph_hash(document->graph()); }
  // Runs what has been started, and then delivers it.
  void run() const { pool->run_all(1); }
  void run_all() const {
    for (int i = 0; i < 12; ++i) run();
  }
  using Names = std::vector<std::string>;

  std::unique_ptr<test::HeldPool> pool;
  std::unique_ptr<Document> document;
  std::unique_ptr<FixSearch> search;
  Names found;
  QStringList refusals;
};

TEST_F(FixSearchTest, FindsOneAfterTheOtherInTheGivenOrder) {
  search->want({node("g2"), node("g0"), node("g1")});
  EXPECT_TRUE(search->is_running());
  run();
  EXPECT_EQ(found, Names{"g2"});
  ASSERT_TRUE(search->found(node("g2")));
  EXPECT_TRUE(search->found(node("g2"))->of(FixKind::alone).edit);
  EXPECT_FALSE(search->found(node("g0")));
  run_all();
  EXPECT_EQ(found, (Names{"g2", "g0", "g1"}));
  EXPECT_FALSE(search->is_running());
}

TEST_F(FixSearchTest, ANewRequestReplacesThoseThatHaveNotBegun) {
  search->want({node("g2"), node("g0")});
  search->want({node("g1")});
  run_all();
  EXPECT_EQ(found, (Names{"g2", "g1"})) << "the first had begun";
  search->want({node("g2"), node("g0")});
  run_all();
  EXPECT_EQ(found, (Names{"g2", "g1", "g0"})) << "what is known is not searched for again";
}

TEST_F(FixSearchTest, AnEmptyRequestCancels) {
  search->want({node("g2"), node("g0")});
  search->want({});
  EXPECT_FALSE(search->is_running());
  run_all();
  EXPECT_EQ(found, Names{});
}

TEST_F(FixSearchTest, AnEditMakesResultsOutdated) {
  search->want({node("g1"), node("g2")});
  run_all();
  const CollectiveFixesPtr before = search->found(node("g2"));
  found.clear();
  bool forgotten = false;
  QObject::connect(search.get(), &FixSearch::forgotten, [&] { forgotten = true; });
  editing().apply(*move_edit(document->graph(), std::vector{node("g1")}, node("a1")));
  run();
  EXPECT_TRUE(forgotten);
  EXPECT_FALSE(search->found(node("g2")));
  run_all();
  EXPECT_EQ(found, (Names{"g1", "g2"}));
  EXPECT_NE(search->found(node("g2"))->before.step_ns, before->before.step_ns);
}

TEST_F(FixSearchTest, TheBestMoveBecomesOneHistoryEntry) {
  const std::string opened = hash();
  search->want({node("g1")});
  run_all();
  const CollectiveFixesPtr fixes = search->found(node("g1"));
  search->apply_best(node("g1"));
  run_all();
  ASSERT_EQ(editing().entry_count(), 1);
  EXPECT_EQ(figures_of(metrics_of(document->graph(), document->analysis())),
            fixes->of(*fixes->best()).after);
  editing().undo();
  run_all();
  EXPECT_EQ(hash(), opened);
  EXPECT_EQ(refusals, QStringList());
}

TEST_F(FixSearchTest, AMoveThatIsNotKnownYetIsFoundFirst) {
  search->want({node("g0"), node("g1"), node("g2")});
  search->apply(node("g2"), FixKind::all_layers);
  run();
  EXPECT_EQ(found, Names{"g0"}) << "it had begun";
  run();
  EXPECT_EQ(found, (Names{"g0", "g2"}));
  run_all();
  ASSERT_EQ(editing().entry_count(), 1);
  EXPECT_TRUE(editing().entry(0).title.endsWith("in 3 layers"));
}

TEST_F(FixSearchTest, AMoveIsFoundForTheGraphAfterPendingEdits) {
  search->want({node("g1")});
  run_all();
  editing().apply(*move_edit(document->graph(), std::vector{node("g0")}, node("a0")));
  search->apply_best(node("g1"));
  run_all();
  ASSERT_EQ(editing().entry_count(), 2);
  EXPECT_EQ(refusals, QStringList());
  EXPECT_LT(document->graph().position(node("g1")), document->graph().position(node("a1")));
}

TEST_F(FixSearchTest, RefusesWithTheReasonIfNothingSavesTime) {
  search->apply(node("g1"), FixKind::all_layers);
  run_all();
  ASSERT_EQ(editing().entry_count(), 1);
  // Nothing is left to gain.
  search->apply_best(node("g1"));
  run_all();
  EXPECT_EQ(editing().entry_count(), 1);
  ASSERT_EQ(refusals.size(), 1);
  EXPECT_TRUE(refusals.front().startsWith("No other position saves time."));
}

}  // namespace
}  // namespace jointer::views
