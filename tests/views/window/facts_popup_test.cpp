#include "views/window/facts_popup.h"

#include <gtest/gtest.h>

#include <QTextBrowser>
#include <algorithm>

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

// The facts themselves name only what the command line also has.
TEST(FactsPopupTest, SaysWhereTheWindowChangesSizes) {
  const Graph graph = test::parse(R"(
    x: f32[u0,8] = input
    y: f32[u0,8] = aten.relu(x)
    return [y]
  )");
  ASSERT_TRUE(std::ranges::any_of(graph.facts(), [](const Fact& fact) {
    return fact.kind == Fact::Kind::assumed && fact.text.ends_with("change it with --assume");
  }));
  const FactsPopup popup(graph, nullptr);
  const auto* text = popup.findChild<QTextBrowser*>();
  ASSERT_NE(text, nullptr);
  const QString shown = text->toPlainText();
  EXPECT_TRUE(shown.contains(QStringLiteral("To change these sizes, press Sizes.")))
      << shown.toStdString();
}

TEST(FactsPopupTest, SaysWhereTheWindowSetsTheSizesOfGroups) {
  const Graph graph = test::parse(R"(
    x: f32[8] = input
    y: f32[8] = _c10d_functional.all_reduce(x, 'sum', None)
    return [y]
  )");
  const FactsPopup popup(graph, nullptr);
  const QString shown = popup.findChild<QTextBrowser*>()->toPlainText();
  EXPECT_TRUE(
      shown.contains(QStringLiteral("To set the number of ranks of a process group, or where they "
                                    "are, choose Graph > Estimates.")))
      << shown.toStdString();
}

}  // namespace
}  // namespace jointer::views
