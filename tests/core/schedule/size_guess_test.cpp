// Tests how much the step depends on the sizes of groups that a capture does not contain.

#include "core/schedule/size_guess.h"

#include <gtest/gtest.h>

#include "core/graph/group_argument.h"
#include "core/graph/literal.h"
#include "tests/support/must.h"

namespace jointer {
namespace {

// An all-reduce does not tell the size of its group.
Graph reduction(const char* group = "'dp'") {
  return test::must(parse_literal(fmt::format(R"(
    x: bf16[4096,4096] = input
    g: bf16[4096,4096] = _c10d_functional.all_reduce(x, 'sum', {})
    w: bf16[4096,4096] = _c10d_functional.wait_tensor(g)
    return [w]
  )",
                                              group)));
}

Assumptions sizes(const std::string& text) {
  return Assumptions::parse(text).value();
}

SizeGuess guess(const Graph& graph, const AnalysisOptions& options = {}) {
  return guess_group_sizes(graph, analyze(graph, options).value()).value();
}

std::int64_t step(const Graph& graph) {
  return analyze(graph)->simulation.step_ns();
}

TEST(SizeGuess, WithoutAWorldSizeIsComparedWithTwoNodes) {
  Graph graph = reduction();
  const SizeGuess guessed = guess(graph);
  ASSERT_EQ(guessed.groups.size(), 1U);
  EXPECT_EQ(guessed.other_ranks, 16);
  EXPECT_EQ(guessed.default_ns, step(graph));
  EXPECT_GT(guessed.other_ns, guessed.default_ns);
  EXPECT_TRUE(guessed.matters());
  // As assumed, it is the step that was predicted, and nothing is guessed.
  ASSERT_TRUE(graph.assume(sizes("ranks:dp=16")));
  EXPECT_EQ(step(graph), guessed.other_ns);
  EXPECT_TRUE(guess(graph).groups.empty());
  EXPECT_FALSE(guess(graph).matters());
}

TEST(SizeGuess, ANodeMayHaveMoreGpus) {
  AnalysisOptions options;
  options.estimator.gpus_per_node = 72;
  EXPECT_EQ(guess(reduction(), options).other_ranks, 144);
  options.estimator.gpus_per_node = 1;
  EXPECT_EQ(guess(reduction(), options).other_ranks, 16);
}

TEST(SizeGuess, TheWorldSizeIsComparedWithTwoRanks) {
  Graph graph = reduction();
  graph.part(PartId(0)).world_size = 64;
  const SizeGuess guessed = guess(graph);
  ASSERT_EQ(guessed.groups.size(), 1U);
  EXPECT_EQ(guessed.other_ranks, 2);
  EXPECT_LT(guessed.other_ns, guessed.default_ns);
  EXPECT_TRUE(guessed.matters());
  graph.part(PartId(0)).world_size = 2;
  EXPECT_TRUE(guess(graph).groups.empty()) << "a group of two ranks is the world";
}

TEST(SizeGuess, CollectivesWithoutAGroupCount) {
  Graph graph = reduction("None");
  const SizeGuess guessed = guess(graph);
  ASSERT_EQ(guessed.groups.size(), 1U);
  EXPECT_FALSE(static_cast<bool>(guessed.groups.front()));
  EXPECT_TRUE(guessed.matters());
  ASSERT_TRUE(graph.assume(sizes("ranks:=16")));
  EXPECT_EQ(step(graph), guessed.other_ns);
  EXPECT_TRUE(guess(graph).groups.empty());
}

TEST(SizeGuess, ASmallCollectiveDoesNotMatter) {
  const Graph graph = test::must(parse_literal(R"(
    a: bf16[8192,8192] = input
    x: f32[1] = input
    g: f32[1] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    b: bf16[8192,8192] = aten.mm(a, a)
    c: bf16[8192,8192] = aten.mm(b, b)
    w: f32[1] = _c10d_functional.wait_tensor(g)
    return [c, w]
  )"));
  const SizeGuess guessed = guess(graph);
  EXPECT_EQ(guessed.groups.size(), 1U);
  EXPECT_FALSE(guessed.matters());
}

TEST(SizeGuess, KnownSizesAreNotGuessed) {
  const Graph graph = test::must(parse_literal(R"(
    group dp: 0 1 2 3
    x: bf16[4096,4096] = input
    g: bf16[4096,4096] = _c10d_functional.all_reduce(x, 'sum', 'dp')
    w: bf16[4096,4096] = _c10d_functional.wait_tensor(g)
    h: bf16[65536,4096] = _c10d_functional.all_gather_into_tensor(w, 16, 'fsdp')
    return [h]
  )"));
  EXPECT_TRUE(guess(graph).groups.empty());
}

}  // namespace
}  // namespace jointer
