#include "core/partition/region_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

using testing::HasSubstr;

constexpr std::string_view kJoint = R"(
  primals_1: f32[8] = input
  tangents_1: f32[8] = tangent
  a: f32[8] = aten.sin(primals_1)
  b: f32[8] = aten.exp(a)
  g: f32[8] = aten.mul.Tensor(tangents_1, a)
  return [b, g]
)";

void annotate(Graph& graph, std::string_view name, double budget) {
  graph.node(graph.find(name)).custom =
      graph.intern(fmt::format(R"({{"_region_activation_memory_budget": {}}})", budget));
}

TEST(RegionBudget, IsThatOfTheWholeForward) {
  Graph graph = parse(kJoint);
  const auto none = must(region_budget(graph));
  EXPECT_EQ(none, std::nullopt);
  annotate(graph, "a", 0.4);
  annotate(graph, "b", 0.4);
  const auto budget = must(region_budget(graph));
  EXPECT_EQ(budget, std::optional(0.4));
}

TEST(RegionBudget, IsRefusedForAPartUnlessAllowed) {
  Graph graph = parse(kJoint);
  annotate(graph, "a", 0.25);
  const auto refused = region_budget(graph);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("do not cover 1 call of the forward (first: b)"));
  const auto budget = must(region_budget(graph, BudgetCoverage::part));
  EXPECT_EQ(budget, std::optional(0.25));
}

// The copy makes the dead call one that cannot be recomputed, and so one of the forward.
TEST(RegionBudget, DeadCallsNeedNotBeCovered) {
  Graph graph = parse(R"(
    primals_1: f32[8] = input
    primals_2: f32[8] = buffer
    tangents_1: f32[8] = tangent
    a: f32[8] = aten.sin(primals_1)
    b: f32[8] = aten.exp(a)
    dead: f32[8] = aten.mul.Tensor(primals_2, 2)
    update: f32[8] = aten.copy_(primals_2, b)
    g: f32[8] = aten.mul.Tensor(tangents_1, a)  {backward}
    return [b, g, None]
  )");
  for (const char* const name : {"a", "b", "update"}) annotate(graph, name, 0.4);
  EXPECT_EQ(must(region_budget(graph)), std::optional(0.4));
  annotate(graph, "dead", 0.7);
  EXPECT_EQ(must(region_budget(graph)), std::optional(0.4)) << "dead calls have no budget";
  graph.node(graph.find("b")).custom = {};
  EXPECT_FALSE(region_budget(graph));
}

TEST(RegionBudget, OnlyTheFirstOfEqualCallsCounts) {
  Graph graph = parse(R"(
    primals_1: f32[8] = input
    tangents_1: f32[8] = tangent
    a: f32[8] = aten.sin(primals_1)
    b: f32[8] = aten.exp(a)
    again: f32[8] = aten.exp(a)
    c: f32[8] = aten.add.Tensor(b, again)
    g: f32[8] = aten.mul.Tensor(tangents_1, a)  {backward}
    return [c, g]
  )");
  for (const char* const name : {"a", "b", "c"}) annotate(graph, name, 0.4);
  EXPECT_EQ(must(region_budget(graph)), std::optional(0.4));
}

TEST(RegionBudget, EqualsThatOfSubgraphs) {
  Graph graph = parse(kJoint);
  annotate(graph, "a", 0.5);
  annotate(graph, "b", 0.5);
  const auto with_body = [&](std::string_view custom) {
    graph.part(PartId(0)).constants = fmt::format(
        R"({{"body": {{"subgraph": {{"nodes": [{{"name": "m", "op": "call_function"{}}}]}}}}}})",
        custom);
    return region_budget(graph);
  };
  EXPECT_TRUE(with_body(R"(, "custom": {"_region_activation_memory_budget": 0.5})"));
  const auto uncovered = with_body("");
  ASSERT_FALSE(uncovered);
  EXPECT_THAT(uncovered.error().message, HasSubstr("1 call of the forward (first: m)"));
  const auto other = with_body(R"(, "custom": {"_region_activation_memory_budget": 0.1})");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("budgets (0.1 and 0.5)"));
  annotate(graph, "b", 0.3);
  const auto several = with_body(R"(, "custom": {"_region_activation_memory_budget": 0.1})");
  ASSERT_FALSE(several);
  EXPECT_THAT(several.error().message, HasSubstr("budgets (3 between 0.1 and 0.5)"));
}

}  // namespace
}  // namespace jointer::test
