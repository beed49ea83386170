// Tests edits that start from an earlier place in the history.

#include "views/session/edit/editing.h"

#include <gtest/gtest.h>

#include <QSignalSpy>
#include <QTest>

#include "tests/support/snapshots.h"
#include "views/session/document/document.h"

namespace jointer::views {
namespace {

constexpr int kPatienceMs = 20000;

class EditingTest : public ::testing::Test {
 protected:
  // An edit that sets the policy of a node.
  static Edit saves(const char* node) {
    return {.title = fmt::format("Save {}", node),
            .by = {},
            .changes = {SetPolicy{.select = node, .policy = MemoryPolicy::must_save}},
            .notes = {}};
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
  EXPECT_EQ(editing().step_count(), 4);
  EXPECT_EQ(editing().edits().size(), 2U) << "the new ones only";
  EXPECT_EQ(replaced_edits(editing().step(2)), 2U);
  EXPECT_EQ(replaced_edits(editing().step(3)), 0U);
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
  EXPECT_EQ(editing().step_count(), 4);
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
  EXPECT_EQ(editing().step_count(), 1);
  EXPECT_EQ(editing().place(), 1);
}

}  // namespace
}  // namespace jointer::views
