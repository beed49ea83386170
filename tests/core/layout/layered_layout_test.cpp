#include "core/layout/layered_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/layouts.h"

namespace jointer {
namespace {

TEST(LayeredLayout, IsEmptyForAnEmptyGraph) {
  const Layout layout = layered_layout({});
  EXPECT_EQ(layout.width, 0);
  EXPECT_EQ(layout.height, 0);
}

TEST(LayeredLayout, StacksAChain) {
  const LayoutStyle style;
  const Layout layout = layered_layout({.nodes = 3, .edges = {{0, 1}, {1, 2}}});
  EXPECT_EQ(layout.width, style.node_width);
  EXPECT_EQ(layout.height, 3 * style.node_height + 2 * style.rank_gap);
  EXPECT_EQ(layout.centers[0].x, layout.centers[2].x);
  EXPECT_EQ(layout.ranks, (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(LayeredLayout, PutsTheSidesOfADiamondNextToEachOther) {
  const Layout layout = layered_layout({.nodes = 4, .edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}}});
  EXPECT_EQ(layout.ranks, (std::vector<std::uint32_t>{0, 1, 1, 2}));
  EXPECT_LT(layout.centers[1].x, layout.centers[2].x);
  EXPECT_NEAR(layout.centers[0].x, (layout.centers[1].x + layout.centers[2].x) / 2, 1);
  EXPECT_NEAR(layout.centers[0].x, layout.centers[3].x, 1);
}

TEST(LayeredLayout, AvoidsNeedlessCrossings) {
  // Four chains whose second nodes come in the opposite order.
  const Layout layout =
      layered_layout({.nodes = 8, .edges = {{0, 7}, {1, 6}, {2, 5}, {3, 4}}}, {.max_in_rank = 4});
  for (std::uint32_t n = 0; n < 4; ++n)
    EXPECT_NEAR(layout.centers[n].x, layout.centers[7 - n].x, 1) << n;
}

TEST(LayeredLayout, ASourceIsNearItsReader) {
  // 3 is a source, and its only reader is the end of the chain 0 -> 1 -> 2 -> 4.
  const Layout layout = layered_layout({.nodes = 5, .edges = {{0, 1}, {1, 2}, {2, 4}, {3, 4}}});
  EXPECT_EQ(layout.ranks[3], 2U);
}

TEST(LayeredLayout, FoldsWideRanks) {
  // 40 pairs in parallel, all from one source.
  LayoutGraph graph{.nodes = 81};
  for (std::uint32_t n = 1; n < graph.nodes; n += 2) {
    graph.edges.push_back({0, n});
    graph.edges.push_back({n, n + 1});
  }
  LayoutStyle style;
  const Layout folded = layered_layout(graph, style);
  EXPECT_EQ(test::layout_mistake(graph, folded, style), "");
  for (std::uint32_t rank = 0; rank < folded.rank_tops.size(); ++rank)
    EXPECT_LE(std::count(folded.ranks.begin(), folded.ranks.end(), rank), style.max_in_rank);
  // Each pair stays together.
  for (std::uint32_t n = 1; n < graph.nodes; n += 2)
    EXPECT_LE(folded.ranks[n + 1] - folded.ranks[n], 3U) << n;
  style.max_in_rank = 0;
  EXPECT_EQ(layered_layout(graph, style).rank_tops.size(), 3U);
}

TEST(LayeredLayout, SourcesThatSinkDoNotMakeARankTooWide) {
  // 5 and 6 are sources that would sink to the rank of 2, 3 and 4.
  const LayoutGraph graph{
      .nodes = 8,
      .edges = {{0, 1}, {1, 2}, {1, 3}, {1, 4}, {2, 7}, {3, 7}, {4, 7}, {5, 7}, {6, 7}}};
  const LayoutStyle style{.max_in_rank = 3};
  const Layout layout = layered_layout(graph, style);
  EXPECT_EQ(test::layout_mistake(graph, layout, style), "");
  for (std::uint32_t rank = 0; rank < layout.rank_tops.size(); ++rank)
    EXPECT_LE(std::count(layout.ranks.begin(), layout.ranks.end(), rank), style.max_in_rank);
}

TEST(LayeredLayout, IsSoundForRandomGraphs) {
  const LayoutStyle style;
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    const LayoutGraph graph = test::random_layout_graph(seed, 60);
    const Layout layout = layered_layout(graph, style);
    ASSERT_EQ(test::layout_mistake(graph, layout, style), "") << "seed " << seed;
  }
}

TEST(LayeredLayout, IsDeterministic) {
  const LayoutGraph graph = test::random_layout_graph(7, 200);
  const Layout a = layered_layout(graph), b = layered_layout(graph);
  EXPECT_EQ(a.centers, b.centers);
  for (std::size_t i = 0; i < a.routes.size(); ++i)
    EXPECT_EQ(a.routes[i].points, b.routes[i].points);
}

TEST(LayeredLayout, SupportsALongChainWithFarReaders) {
  LayoutGraph graph{.nodes = 400};
  for (std::uint32_t n = 1; n < graph.nodes; ++n) {
    graph.edges.push_back({n - 1, n});
    if (n > 10) graph.edges.push_back({n % 10, n});
  }
  const LayoutStyle style;
  EXPECT_EQ(test::layout_mistake(graph, layered_layout(graph, style), style), "");
}

}  // namespace
}  // namespace jointer
