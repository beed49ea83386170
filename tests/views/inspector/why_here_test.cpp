#include "views/inspector/why_here.h"

#include <gtest/gtest.h>

#include "tests/views/pipeline/report/reports.h"
#include "views/session/edit/edit_history.h"

namespace jointer::views {
namespace {

class WhyHereTest : public ::testing::Test {
 protected:
  void apply(const Edit& edit) {
    const EditRun done = run_edits(graph_, {edit});
    ASSERT_TRUE(done.refused.empty()) << done.refused.front();
    history_.insert(history_.end(), done.done.begin(), done.done.end());
  }
  [[nodiscard]] std::vector<EditReason> of(const char* name) const {
    return reasons_for(history_, graph_, graph_.find(name));
  }

  Graph graph_ = test::parse(test::kCollectives);
  EditHistory history_;
};

TEST_F(WhyHereTest, NewestFirstWithActionReasonAndEffect) {
  apply(test::reported(graph_, "sink_waits_iterative")[0].result->edit);
  apply({.title = "Move v1 1 position earlier", .changes = {MoveNodes{{"v1"}, "y"}}});
  const std::vector<EditReason> reasons = of("v1");
  ASSERT_EQ(reasons.size(), 2U);
  EXPECT_EQ(reasons[0].edit, 2U);
  EXPECT_TRUE(reasons[0].by.isEmpty());
  EXPECT_EQ(reasons[0].action, "Move v1 1 position earlier");
  EXPECT_EQ(reasons[1].by, "sink_waits_iterative");
  EXPECT_EQ(reasons[1].action, "moved");
  EXPECT_FALSE(reasons[1].reason.isEmpty());
  EXPECT_TRUE(reasons[1].effect.contains("later; exposed ")) << reasons[1].effect.toStdString();
  const InspectorSection section = why_section(reasons);
  ASSERT_EQ(section.rows.size(), 2U);
  EXPECT_EQ(section.rows[0].value, "by you: Move v1 1 position earlier");
  EXPECT_TRUE(section.rows[1].value.startsWith("moved by sink_waits_iterative. "));
}

TEST_F(WhyHereTest, UneditedNodesAreAsOpened) {
  apply(test::reported(graph_, "sink_waits_iterative")[0].result->edit);
  EXPECT_TRUE(of("x").empty());
  const InspectorSection section = why_section({});
  ASSERT_EQ(section.rows.size(), 1U);
  EXPECT_EQ(section.rows[0].value, "No edit changed this node.");
}

TEST_F(WhyHereTest, SelectorsNameTheNodesThatTheyTag) {
  const std::string op(graph_.target(graph_.node(graph_.find("v1"))));
  apply({.title = "Save " + op, .changes = {SetPolicy{op, MemoryPolicy::must_save}}});
  const std::vector<EditReason> reasons = of("v1");
  ASSERT_EQ(reasons.size(), 1U);
  EXPECT_EQ(reasons[0].action.toStdString(), "Save " + op);
  for (const NodeId node : graph_.order())
    EXPECT_EQ(reasons_for(history_, graph_, node).empty(),
              graph_.node(node).policy != MemoryPolicy::must_save);
}

TEST_F(WhyHereTest, NewNodesHaveTheReasonsOfTheirOrigin) {
  Edit edit = test::reported(graph_, "greedy_bucketing_by_mb")[0].result->edit;
  ASSERT_FALSE(edit.decisions.empty());
  apply(edit);
  NodeId bucket;
  for (const NodeId node : graph_.order())
    if (graph_.is_collective_start(graph_.node(node))) bucket = node;
  const auto reasons = reasons_for(history_, graph_, bucket);
  ASSERT_FALSE(reasons.empty());
  EXPECT_EQ(reasons[0].by, "greedy_bucketing_by_mb");
  // Without its decisions, the edit is still listed.
  graph_ = test::parse(test::kCollectives);
  history_.clear();
  edit.decisions.clear();
  apply(edit);
  const auto silent = reasons_for(history_, graph_, bucket);
  ASSERT_EQ(silent.size(), 1U);
  EXPECT_EQ(silent[0].action, "added");
  EXPECT_EQ(silent[0].reason, "The pass recorded no reason.");
}

}  // namespace
}  // namespace jointer::views
