// Tests edits that start from an earlier position in the history.

#include "views/session/edit/editing.h"
#include "tests/support/patience.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "tests/support/held_pool.h"
#include "tests/support/snapshots.h"
#include "views/session/document/document.h"

namespace jointer::views {
namespace {

using test::kPatienceMs;

class EditingTest : public ::testing::Test {
 protected:
  // An edit that sets the policy of a node.
  static Edit saves(const char* node) {
    return {.title = fmt::format("Save {}", node),
            .changes = {SetPolicy{.select = node, .policy = MemoryPolicy::must_save}}};
  }
  [[nodiscard]] Editing& editing() const { return document->editing(); }
  // The nodes with a policy.
  [[nodiscard]] std::string tagged() const {
    std::string names;
    for (const NodeId id : document->graph().order())
      if (document->graph().node(id).policy != MemoryPolicy::none)
        names += fmt::format("{} ", document->graph().name(id));
    return names;
  }
  [[nodiscard]] bool settle() const {
    return QTest::qWaitFor([this] { return editing().is_settled(); }, kPatienceMs);
  }

  std::unique_ptr<Document> document = std::make_unique<Document>(
      OpenRequest{.path = "/tmp/graph.json"}, test::snapshot_of(test::kSmallStep));
};

TEST_F(EditingTest, EntriesAfterTheStartStayAndUndoReturnsToThem) {
  const std::string opened = tagged();
  editing().apply_all({saves("relu"), saves("y")});
  ASSERT_TRUE(settle());
  const std::string first = tagged();
  editing().apply_all_from(0, {saves("g1"), saves("gw1")});
  ASSERT_TRUE(settle());
  const std::string second = tagged();
  EXPECT_EQ(first, "mm relu mm_1 y ");
  EXPECT_EQ(second, "mm mm_1 g1 gw1 ");
  EXPECT_EQ(editing().entry_count(), 4);
  EXPECT_EQ(editing().edits().size(), 2U) << "the new ones only";
  EXPECT_EQ(replaced_edits(editing().entry(2)), 2U);
  EXPECT_EQ(replaced_edits(editing().entry(3)), 0U);
  editing().undo();
  editing().undo();
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), first);
  editing().undo();
  editing().undo();
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), opened);
  editing().go_to(4);
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), second);
  // Also after the history was stored.
  const History stored = editing().history();
  editing().go_to(0);
  editing().restore(stored);
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), second);
  EXPECT_EQ(editing().entry_count(), 4);
  editing().go_to(2);
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), first);
}

TEST_F(EditingTest, TheStateStaysIfNoEditIsLegal) {
  editing().apply_all({saves("relu")});
  ASSERT_TRUE(settle());
  const std::string before = tagged();
  QSignalSpy applied(&editing(), &Editing::applied_all);
  editing().apply_all_from(0, {saves("no_such_node")});
  ASSERT_TRUE(settle());
  ASSERT_EQ(applied.count(), 1);
  EXPECT_EQ(applied.front().at(0).toInt(), 0);
  EXPECT_EQ(applied.front().at(1).toStringList().size(), 1);
  EXPECT_EQ(tagged(), before);
  EXPECT_EQ(editing().entry_count(), 1);
  EXPECT_EQ(editing().place(), 1);
}

TEST_F(EditingTest, UndoAndRedoNameTheEdit) {
  editing().apply_all({saves("relu"), saves("y")});
  ASSERT_TRUE(settle());
  QSignalSpy said(&editing(), &Editing::applied);
  const auto after = [&](const auto& request) {
    request();
    return settle() && said.count() == 1 ? said.takeFirst().front().toString() : QString();
  };
  EXPECT_EQ(after([this] { editing().undo(); }), "Undid: Save y");
  EXPECT_EQ(after([this] { editing().redo(); }), "Redid: Save y");
  EXPECT_EQ(after([this] { editing().go_to(0); }), "Undid 2 edits.");
  EXPECT_EQ(after([this] { editing().go_to(2); }), "Redid 2 edits.");
}

TEST_F(EditingTest, TheStartIsThatOfTheRequestThoughEarlierRequestsReplaceItsEntries) {
  editing().apply_all({saves("relu"), saves("y")});
  ASSERT_TRUE(settle());
  editing().undo();
  editing().undo();
  editing().apply(saves("g1"));
  editing().apply_all_from(2, {saves("gw1")});
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), "mm relu mm_1 y gw1 ");
  EXPECT_EQ(editing().entry_count(), 2);
  editing().undo();
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), "mm mm_1 g1 ");
}

// --- Metrics ---

TEST_F(EditingTest, EntriesThatReplaceOthersWhileMetricsAreComputedGetMetrics) {
  editing().apply_all({saves("relu"), saves("y")});
  editing().undo();
  editing().undo();
  ASSERT_TRUE(settle());
  test::HeldPool pool;
  AnalysisOptions options = document->analysis().options;
  options.memory.optimizer = OptimizerState::adamw;
  document->analyze_with(options);
  // Begins when the analysis ends, before the metrics of the old entries are computed again.
  editing().apply_all({saves("g1"), saves("gw1")});
  pool.run_all();
  ASSERT_EQ(editing().entry_count(), 2);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(editing().entry(i).title.contains(i == 0 ? "g1" : "gw1")) << i;
    EXPECT_TRUE(editing().entry(i).metrics) << i;
  }
}

// --- Repeating in identical layers ---

TEST_F(EditingTest, TheLastEditIsRepeatedInTheOtherLayers) {
  editing().apply_all({saves("y"), saves("relu")});
  editing().repeat_in_layers({});
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), "mm relu mm_1 relu_1 y ");
  EXPECT_EQ(editing().entry_count(), 3);
  EXPECT_EQ(editing().entry(2).title, "Save relu, the same in 1 more layer");
  editing().undo();
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), "mm relu mm_1 y ");
}

TEST_F(EditingTest, TheEditOfASelectedNodeIsRepeatedThoughLaterOnesFollowed) {
  editing().apply_all({saves("relu"), saves("y")});
  ASSERT_TRUE(settle());
  editing().repeat_in_layers({document->graph().find("relu")});
  ASSERT_TRUE(settle());
  EXPECT_EQ(tagged(), "mm relu mm_1 relu_1 y ");
}

TEST_F(EditingTest, RepeatingIsRefusedWithTheReason) {
  QSignalSpy refused(&editing(), &Editing::refused);
  editing().repeat_in_layers({});
  ASSERT_TRUE(settle());
  ASSERT_EQ(refused.size(), 1);
  EXPECT_EQ(refused.takeFirst().front().toString(),
            "First edit a layer: move a node, set its policy, or merge, split or replace calls.");
  editing().apply(saves("y"));
  editing().repeat_in_layers({});
  ASSERT_TRUE(settle());
  ASSERT_EQ(refused.size(), 1);
  EXPECT_EQ(refused.takeFirst().front().toString(),
            "y does not belong to a layer, so it has no counterpart in other layers");
  EXPECT_EQ(editing().entry_count(), 1);
}

}  // namespace
}  // namespace jointer::views
