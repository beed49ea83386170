#include "views/window/facts_popup.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::views {
namespace {

TEST(GraphSummary, CountsInWords) {
  Graph graph = test::parse("return []");
  ASSERT_EQ(graph.order().size(), 1U);
  EXPECT_TRUE((graph_summary(graph) + " ").startsWith("1 node "));
  graph.add_fact(Fact::Kind::warning, "A warning.");
  EXPECT_TRUE(graph_summary(graph).endsWith(" \u00b7 1 warning"));
  graph.add_fact(Fact::Kind::warning, "Another warning.");
  EXPECT_TRUE(graph_summary(graph).endsWith(" \u00b7 2 warnings"));
  const Graph two = test::parse("x: f32[4] = input\nreturn [x]");
  EXPECT_TRUE((graph_summary(two) + " ").startsWith("2 nodes "));
}

}  // namespace
}  // namespace jointer::views
