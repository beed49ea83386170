#include "views/graph/group_layout.h"

#include <gtest/gtest.h>

#include "core/process/spawn.h"
#include "tests/support/ladders.h"
#include "tests/support/layouts.h"

namespace jointer::views {
namespace {

GroupLayout layout_of(const GroupGraphs& graphs, const std::string& dot) {
  return lay_out_groups(std::span(&graphs, 1), {}, {.program = dot}).front();
}

class GroupLayoutTest : public testing::Test {
 protected:
  GroupGraphs graphs(const char* key) const {
    return group_graphs(graph_, ladder_, ladder_.find(key));
  }

  Graph graph_ = test::layered_graph(3);
  Ladder ladder_{graph_, *analyze(graph_)};
};

TEST_F(GroupLayoutTest, HasEdgesWithinAGroupAndSide) {
  const GroupGraphs wo = graphs("layers.1.attention.wo");
  EXPECT_EQ(wo[0], (LayoutGraph{.nodes = 3, .edges = {{0, 1}, {1, 2}}}));
  EXPECT_EQ(wo[1], (LayoutGraph{.nodes = 2, .edges = {{0, 1}}}));
}

TEST_F(GroupLayoutTest, IdenticalGroupsAreLaidOutOnce) {
  GroupLayouts layouts;
  for (const char* key :
       {"layers.0.attention.wo", "layers.1.attention.wo", "layers.2.attention.wo"}) {
    const GroupGraphs wo = graphs(key);
    if (!layouts.find(wo)) layouts.add(wo, std::make_shared<const GroupLayout>(layout_of(wo, {})));
  }
  EXPECT_EQ(layouts.size(), 1U);
  EXPECT_EQ(layouts.find(graphs("layers.0.attention.wo")),
            layouts.find(graphs("layers.2.attention.wo")));
  EXPECT_EQ(layouts.find(graphs("layers.0.norm")), nullptr);
}

TEST_F(GroupLayoutTest, StaysThroughAMove) {
  const GroupGraphs before = graphs("layers.0.attention/itself");
  std::vector<NodeId> order(graph_.order().begin(), graph_.order().end());
  // The last gradient of the first layer precedes the one before it: neither reads the other.
  std::swap(order[graph_.position(graph_.find("gwq_0"))],
            order[graph_.position(graph_.find("dn_0"))]);
  graph_.set_order(order);
  ladder_ = Ladder(graph_, *analyze(graph_));
  EXPECT_EQ(graphs("layers.0.attention/itself"), before);
}

TEST_F(GroupLayoutTest, FallsBackIfDotFails) {
  const GroupGraphs wo = graphs("layers.0.attention.wo");
  const GroupLayout layout = layout_of(wo, "/nowhere/dot");
  EXPECT_FALSE(layout.is_by_dot);
  for (std::size_t side = 0; side < 2; ++side)
    EXPECT_EQ(test::layout_mistake(wo[side], layout.sides[side], {}), "");
}

TEST(GroupLayout, UsesOwnLayoutForLargeGroups) {
  // A program that would hang is not started.
  GroupGraphs large;
  large[0].nodes = kMaxDotNodes + 1;
  EXPECT_FALSE(layout_of(large, "sleep").is_by_dot);
}

TEST_F(GroupLayoutTest, LaysOutManyTogether) {
  if (!can_run(find_program("dot"))) GTEST_SKIP() << "dot (Graphviz) is not installed";
  GroupGraphs large;
  large[0].nodes = kMaxDotNodes + 1;
  const std::vector<GroupGraphs> all{graphs("layers.0.attention.wo"), large,
                                     graphs("layers.0.norm")};
  const auto layouts = lay_out_groups(all, {}, {.deadline = std::chrono::seconds(60)});
  EXPECT_TRUE(layouts[0].is_by_dot);
  EXPECT_FALSE(layouts[1].is_by_dot);
  EXPECT_TRUE(layouts[2].is_by_dot);
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t side = 0; side < 2; ++side)
      EXPECT_EQ(test::layout_mistake(all[i][side], layouts[i].sides[side], {}), "") << i;
}

}  // namespace
}  // namespace jointer::views
