// Tests where the ranks of groups are placed that a capture does not describe, and how that affects
// the step.

#include "core/schedule/placement_guess.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/cost/collective_model.h"
#include "core/cost/cost_database.h"
#include "core/graph/group_argument.h"
#include "core/graph/literal.h"
#include "tests/support/must.h"
#include "tests/support/temporary_folder.h"

namespace jointer {
namespace {

// A gather whose group is not described: only its size is known.
Graph gather(const std::string& groups = {}) {
  return test::must(parse_literal(groups + R"(
    x: bf16[4096,4096] = input
    g: bf16[65536,4096] = _c10d_functional.all_gather_into_tensor(x, 16, 'fsdp')
    w: bf16[65536,4096] = _c10d_functional.wait_tensor(g)
    return [w]
  )"));
}

Assumptions strides(const std::string& text) {
  return Assumptions::parse(text).value();
}

PlacementGuess guess(const Graph& graph) {
  return guess_placement(graph, analyze(graph).value()).value();
}

TEST(PlacementGuess, RanksAreNeighborsUnlessAStrideIsGiven) {
  Graph graph = gather();
  const auto place = [&](std::int64_t gpus_per_node) {
    const GroupPlacement p = place_group(graph, graph.node(graph.find("g")), gpus_per_node);
    return std::tuple(p.ranks, p.nodes, p.ranks_per_node);
  };
  EXPECT_EQ(place(8), std::tuple(16, 2, 8));
  ASSERT_TRUE(graph.assume(strides("stride:fsdp=2")));
  EXPECT_EQ(place(8), std::tuple(16, 4, 4));
  ASSERT_TRUE(graph.assume(strides("stride:fsdp=8")));
  EXPECT_EQ(place(8), std::tuple(16, 16, 1));
  EXPECT_EQ(place(16), std::tuple(16, 8, 2));
}

TEST(PlacementGuess, TheFactSaysHowToChangeIt) {
  const Graph graph = gather();
  EXPECT_TRUE(std::ranges::any_of(graph.facts(), [](const Fact& fact) {
    return fact.text ==
           "the file lacks the ranks of process group fsdp: the group gets 16 consecutive ranks, "
           "according to group_size; to place them N apart, use --assume stride:fsdp=N";
  }));
}

TEST(PlacementGuess, TheStepDependsOnIt) {
  Graph graph = gather();
  const PlacementGuess guessed = guess(graph);
  EXPECT_EQ(guessed.groups.size(), 1U);
  EXPECT_EQ(guessed.neighbors_ns, analyze(graph)->simulation.step_ns());
  EXPECT_GT(guessed.spread_ns, 2 * guessed.neighbors_ns);
  EXPECT_TRUE(guessed.matters());
  // As assumed, it is the step that was predicted, and nothing is guessed.
  ASSERT_TRUE(graph.assume(strides("stride:fsdp=8")));
  EXPECT_EQ(analyze(graph)->simulation.step_ns(), guessed.spread_ns);
  EXPECT_TRUE(guess(graph).groups.empty());
  EXPECT_FALSE(guess(graph).matters());
}

// A twin of a group has the group's stride, so an assumption about the group places both.
TEST(PlacementGuess, AnAssumptionPlacesTheTwinsOfAGroup) {
  Graph graph = test::must(parse_literal(R"(
    x: bf16[4096,4096] = input
    g: bf16[65536,4096] = _c10d_functional.all_gather_into_tensor(x, 16, 'fsdp')
    w: bf16[65536,4096] = _c10d_functional.wait_tensor(g)
    h: bf16[65536,4096] = _c10d_functional.all_gather_into_tensor(x, 16, 'fsdp_extra')
    v: bf16[65536,4096] = _c10d_functional.wait_tensor(h)
    return [w, v]
  )"));
  EXPECT_EQ(guess(graph).groups.size(), 2U);
  ASSERT_TRUE(graph.assume(strides("stride:fsdp=8")));
  EXPECT_EQ(place_group(graph, graph.node(graph.find("h")), 8).nodes, 16);
  EXPECT_TRUE(guess(graph).groups.empty());
}

// While the size is a guess, guess_group_sizes reports it.
TEST(PlacementGuess, AGroupOfUnknownSizeIsPlacedByAGuessOnceItsSizeIsAssumed) {
  Graph graph = test::must(parse_literal(R"(
    x: bf16[4096,4096] = input
    g: bf16[4096,4096] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    w: bf16[4096,4096] = _c10d_functional.wait_tensor(g)
    return [w]
  )"));
  EXPECT_TRUE(guess(graph).groups.empty());
  ASSERT_TRUE(graph.assume(strides("ranks:dp=16")));
  EXPECT_EQ(guess(graph).groups.size(), 1U);
  EXPECT_TRUE(guess(graph).matters());
  ASSERT_TRUE(graph.assume(strides("ranks:dp=16,stride:dp=8")));
  EXPECT_TRUE(guess(graph).groups.empty());
}

// They give the same time wherever the ranks are, so the guess need not be reported.
TEST(PlacementGuess, TorchsFormulasUseOnlyTheSizesOfGroups) {
  const Graph graph = gather();
  for (const char* name : {"torch-2.11", "torch-2.15"}) {
    AnalysisOptions options;
    options.estimator.name = name;
    const PlacementGuess found = guess_placement(graph, analyze(graph, options).value()).value();
    EXPECT_EQ(found.groups.size(), 1U) << name;
    EXPECT_EQ(found.spread_ns, found.neighbors_ns) << name;
  }
}

// Both placements are estimated for the device that runs the graph, even if the capture names
// another.
TEST(PlacementGuess, IsEstimatedForTheDeviceThatRunsTheGraph) {
  const Graph graph = gather();
  ASSERT_EQ(graph.main_device(), DeviceType::cuda);
  const test::TemporaryFolder folder;
  AnalysisOptions options;
  options.memory.runs_on = DeviceType::cpu;
  options.estimator = {.name = "measured", .device = "", .costs = folder / "costs.sqlite"};
  ASSERT_TRUE(test::must(CostDatabase::open_or_create(options.estimator.costs))
                  .store({.device = "AMD EPYC 7763",
                          .device_type = "cpu",
                          .nodes = {{"aten.relu.default(f32[8])", 7}},
                          .collectives = {},
                          .gpu = {}}));
  const auto found = guess_placement(graph, analyze(graph, options).value());
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->groups.size(), 1U);
  EXPECT_GT(found->spread_ns, found->neighbors_ns);
}

TEST(PlacementGuess, GroupsOfTheCaptureAreNotGuessed) {
  Graph graph = gather("group fsdp: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n");
  EXPECT_TRUE(guess(graph).groups.empty());
  EXPECT_FALSE(guess(graph).matters());
  const auto refused = graph.assume(strides("stride:fsdp=8"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::usage);
  EXPECT_NE(refused.error().message.find("fsdp"), std::string::npos);
}

TEST(PlacementGuess, StridesAreCheckedAndSeparateFromSizes) {
  Graph graph = gather();
  EXPECT_FALSE(graph.assume(strides("stride:fsdp=0")));
  EXPECT_FALSE(graph.assume(strides("stride:tp=8")));
  EXPECT_TRUE(graph.assumptions().empty());
  const Assumptions both = strides("u0=3,stride:fsdp=8,ranks:dp=4");
  EXPECT_EQ(without_group_assumptions(both).text(), "u0=3");
  EXPECT_EQ(only_group_assumptions(both).text(), "ranks:dp=4,stride:fsdp=8");
}

}  // namespace
}  // namespace jointer
