// Regions that Inductor compiles while the rest of the graph runs operator by operator.

#include "core/compiled/regions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/compiled/compiled_step.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kMark = R"({"compile_with_inductor":{}})";

Graph marked(std::string_view text, const std::vector<std::string>& names,
             std::string_view mark = kMark) {
  Graph graph = parse(text);
  for (const std::string& name : names) graph.node(graph.find(name)).custom = graph.intern(mark);
  return graph;
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<NodeId>& nodes) {
  std::vector<std::string> names;
  for (const NodeId id : nodes) names.emplace_back(graph.name(id));
  return names;
}

constexpr std::string_view kLongChain = R"(
  x: f32[4096,4096] = input
  w: f32[4096,4096] = parameter
  e: f32[4096,4096] = aten.exp(x)
  m: f32[4096,4096] = aten.mul.Tensor(e, x)
  o: f32[4096,4096] = aten.exp(w)
  a: f32[4096,4096] = aten.add.Tensor(m, e)
  p: f32[4096,4096] = aten.mm(a, o)
  r: f32[4096,4096] = aten.relu(p)
  return [r]
)";

TEST(Regions, AreMarkedCallsThatFollowOneAnother) {
  const Graph graph = marked(kLongChain, {"e", "m", "a", "r"});
  const std::vector<Region> regions = find_regions(graph);
  ASSERT_EQ(regions.size(), 2U);
  // `o` is independent, so the region runs in place of its last call; `p` reads a result.
  EXPECT_THAT(names_of(graph, regions[0].calls), ElementsAre("e", "m", "a"));
  EXPECT_THAT(names_of(graph, regions[0].results), ElementsAre("a"));
  EXPECT_THAT(names_of(graph, regions[1].calls), ElementsAre("r"));
}

TEST(Regions, EndWhereAnotherCallWritesTheirMemory) {
  const Graph graph = marked(R"(
    x: f32[8,8] = input
    e: f32[8,8] = aten.exp(x)
    i: f32[8,8] = aten.add_.Tensor(x, 1)
    m: f32[8,8] = aten.exp(e)
    return [m]
  )",
                             {"e", "m"});
  EXPECT_EQ(find_regions(graph).size(), 2U);
}

TEST(Regions, EndWhereTheMarkAsksForOtherOptions) {
  Graph graph = marked(kLongChain, {"e", "m"});
  graph.node(graph.find("m")).custom =
      graph.intern(R"({"compile_with_inductor":{"inductor_configs":{"max_autotune":true}}})");
  const std::vector<Region> regions = find_regions(graph);
  ASSERT_EQ(regions.size(), 2U);
  EXPECT_EQ(regions[0].options, "");
  EXPECT_EQ(regions[1].options, R"({"max_autotune":true})");
}

TEST(Regions, AreNoneWithoutMarks) {
  const Graph graph = parse(kLongChain);
  EXPECT_TRUE(find_regions(graph).empty());
  // Then, calls run one by one.
  const AnalysisOptions eager;
  AnalysisOptions regional;
  regional.execution = Execution::regional;
  const Analysis a = must(analyze_step(graph, eager)), b = must(analyze_step(graph, regional));
  EXPECT_EQ(a.simulation.step_ns(), b.simulation.step_ns());
  EXPECT_EQ(a.memory.peak_bytes(), b.memory.peak_bytes());
}

TEST(Regions, AreCompiledUntilTheyAreCancelled) {
  const Graph graph = marked(kLongChain, {"e", "m", "a"});
  AnalysisOptions regional;
  regional.execution = Execution::regional;
  int polls = 0;
  must(analyze_step(graph, regional, nullptr, [&polls] { return ++polls < 0; }));
  ASSERT_GE(polls, 4) << "before and after the analysis, and after the kernels";
  for (int last = 0; last < polls; ++last) {
    int left = last;
    const auto cancelled = analyze_step(graph, regional, nullptr, [&left] { return left-- <= 0; });
    ASSERT_FALSE(cancelled) << last;
    EXPECT_EQ(cancelled.error().kind, Error::Kind::cancelled);
  }
}

TEST(Regions, FuseOnlyTheirOwnCalls) {
  const Graph graph = marked(kLongChain, {"e", "m", "a"});
  ASSERT_TRUE(check_execution(graph, Execution::regional));
  AnalysisOptions options;
  const Analysis eager = must(analyze_step(graph, options));
  options.execution = Execution::regional;
  const Analysis regional = must(analyze_step(graph, options));
  const auto ns = [&](const Analysis& analysis, const char* name) {
    return analysis.costs[graph.find(name).index()].ns;
  };
  EXPECT_GT(ns(regional, "e"), 0);
  EXPECT_EQ(ns(regional, "m") + ns(regional, "a"), 0);
  for (const char* name : {"o", "p", "r"}) EXPECT_EQ(ns(regional, name), ns(eager, name));
  EXPECT_LT(regional.simulation.step_ns(), eager.simulation.step_ns());
  // Values inside of the region have no memory; its result and all others do.
  EXPECT_FALSE(regional.memory.lifetime_of(storage_of(graph, "e")));
  EXPECT_FALSE(regional.memory.lifetime_of(storage_of(graph, "m")));
  for (const char* name : {"a", "o", "p"})
    EXPECT_TRUE(regional.memory.lifetime_of(storage_of(graph, name))) << name;
  EXPECT_LT(regional.memory.peak_bytes(), eager.memory.peak_bytes());
}

}  // namespace
}  // namespace jointer::test
