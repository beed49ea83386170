#include "core/schedule/what_if.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

constexpr std::string_view kText = R"(
  device cpu
  group dp: 0 1
  w: f32[4] = parameter
  x: f32[8] = input
  a: f32[8] = aten.relu(x)
  gather: f32[8] = _c10d_functional.all_gather_into_tensor(w, 2, 'dp')
  wait: f32[8] = _c10d_functional.wait_tensor(gather)
  b: f32[8] = aten.relu(a)
  use: f32[8] = aten.mul.Tensor(b, wait)
  return [use]
)";

// Kernels take 10 ns, the collective 8, the CPU nothing.
std::vector<NodeCost> simple_costs(const Graph& graph) {
  std::vector<NodeCost> costs(graph.node_count());
  for (const NodeId id : graph.order()) {
    const Node& n = graph.node(id);
    if (n.kind != NodeKind::call || graph.is_wait(n)) continue;
    const bool is_start = graph.is_collective_start(n);
    costs[id.index()].lane = is_start ? NodeCost::Lane::collective : NodeCost::Lane::compute;
    costs[id.index()].ns = is_start ? 8 : 10;
  }
  return costs;
}

class WhatIfTest : public testing::Test {
 protected:
  Graph graph_ = parse(kText);
  Dependencies dependencies_{graph_};
  std::vector<NodeCost> costs_ = simple_costs(graph_);
  WhatIf what_if_{graph_, dependencies_, costs_};

  [[nodiscard]] std::vector<NodeId> nodes(const std::vector<std::string>& names) const {
    std::vector<NodeId> found;
    for (const std::string& name : names) found.push_back(graph_.find(name));
    return found;
  }
  [[nodiscard]] std::string order() const {
    std::string text;
    for (const NodeId id : what_if_.order()) text += std::string(graph_.name(id)) + " ";
    return text;
  }
};

TEST_F(WhatIfTest, StartsWithTheGraphsOrder) {
  // w and x: 48 bytes. At `use`, b and the gathered tensor are live as well.
  EXPECT_EQ(what_if_.figures(), (Figures{.peak_bytes = 48 + 96, .step_ns = 38, .exposed_ns = 8}));
  EXPECT_EQ(order(), "w x a gather wait b use output ");
}

TEST_F(WhatIfTest, APreviewHasTheFiguresOfEveryGap) {
  const auto preview = must(what_if_.preview(nodes({"wait"})));
  EXPECT_EQ(preview.range.first, 4U);
  EXPECT_EQ(preview.range.last, 5U);
  ASSERT_EQ(preview.at.size(), 2U);
  EXPECT_EQ(preview.current(), what_if_.figures());
  EXPECT_EQ(preview.at[1], (Figures{.peak_bytes = 144, .step_ns = 30, .exposed_ns = 0}));
}

TEST_F(WhatIfTest, MovesOnlyWithinTheRange) {
  ASSERT_TRUE(what_if_.move(nodes({"wait"}), 5).has_value());
  EXPECT_EQ(order(), "w x a gather b wait use output ");
  EXPECT_EQ(what_if_.figures(), (Figures{.peak_bytes = 144, .step_ns = 30, .exposed_ns = 0}));
  const auto further = what_if_.move(nodes({"wait"}), 6);
  ASSERT_FALSE(further.has_value());
  EXPECT_EQ(further.error().kind, Error::Kind::usage);
  EXPECT_EQ(order(), "w x a gather b wait use output ");
  EXPECT_FALSE(what_if_.preview(nodes({"x"})).has_value());
}

TEST_F(WhatIfTest, ABlockKeepsTheGraphsOrder) {
  ASSERT_TRUE(what_if_.move(nodes({"wait", "gather", "wait"}), 2).has_value());
  EXPECT_EQ(order(), "w x gather wait a b use output ");
}

// The preview of a wait that could move over thousands of calls ends two calls after its
// collective.
TEST(NearPreview, EndsWhereTheFiguresNoLongerChange) {
  std::string text = R"(
  device cpu
  group dp: 0 1
  w: f32[4] = parameter
  x: f32[8] = input
  gather: f32[8] = _c10d_functional.all_gather_into_tensor(w, 2, 'dp')
  wait: f32[8] = _c10d_functional.wait_tensor(gather)
  a0: f32[8] = aten.relu(x)
)";
  constexpr int kCalls = 2000;
  for (int i = 1; i < kCalls; ++i)
    text += fmt::format("  a{}: f32[8] = aten.relu(a{})\n", i, i - 1);
  text += fmt::format("  use: f32[8] = aten.mul.Tensor(a{}, wait)\n  return [use]\n", kCalls - 1);
  const Graph graph = parse(text);
  const Dependencies dependencies(graph);
  std::vector<NodeCost> costs = simple_costs(graph);
  const std::vector<NodeId> wait{graph.find("wait")};
  for (const std::int64_t host_ns : {0, 5}) {
    costs[wait.front().index()].host_ns = host_ns;
    WhatIf what_if(graph, dependencies, costs);
    const Figures before = what_if.figures();
    const RangePreview whole = *what_if.preview(wait);
    EXPECT_EQ(whole.at.size(), kCalls + 1U);
    const NearPreview near = *what_if.preview_near(wait, whole.range.first, whole.range.last);
    ASSERT_EQ(near.at.size(), 2U) << host_ns;
    EXPECT_EQ(near.at[0], whole.at[0]);
    EXPECT_EQ(near.at[1], whole.at[1]);
    EXPECT_EQ(what_if.figures(), before);
    EXPECT_TRUE(std::ranges::equal(what_if.order(), graph.order()));
    EXPECT_FALSE(what_if.preview_near(wait, 0, whole.range.last));
  }
}

TEST(BestGaps, AreTheNearestOfTheBest) {
  const RangePreview preview{.range = {.first = 10, .last = 14, .current = 12},
                             .at = {{.peak_bytes = 5, .step_ns = 7, .exposed_ns = 1},
                                    {.peak_bytes = 9, .step_ns = 3, .exposed_ns = 1},
                                    {.peak_bytes = 6, .step_ns = 8, .exposed_ns = 4},
                                    {.peak_bytes = 5, .step_ns = 3, .exposed_ns = 2},
                                    {.peak_bytes = 5, .step_ns = 9, .exposed_ns = 1}}};
  const BestGaps best = best_gaps(preview, 5);
  EXPECT_EQ(best.min_exposed, 11U);
  EXPECT_EQ(best.min_peak, 13U);
  EXPECT_EQ(best.fastest_within, 13U);
  EXPECT_EQ(best_gaps(preview, 9).fastest_within, 11U);
  EXPECT_FALSE(best_gaps(preview, 4).fastest_within.has_value());
}

}  // namespace
}  // namespace jointer::test
