#include "core/bench/explanation.h"

#include <gtest/gtest.h>

#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

// On the CPU, with 40 bytes per tensor; the profile is 40, 80 80, 120 80, 120 80.
Graph three_calls() {
  return parse(R"(
    device cpu
    x: f32[10] = input
    a: f32[10] = aten.relu(x)
    b: f32[10] = aten.sort.values(a)
    c: f32[10] = aten.relu(b)
    return [c]
  )");
}

RankMeasured as_predicted(const MemoryTimeline& memory) {
  RankMeasured m;
  m.memory_profile.assign(memory.profile().begin(), memory.profile().end());
  m.peak_bytes = m.resident_peak_bytes = memory.peak_bytes();
  return m;
}

TEST(Explanation, NothingToExplain) {
  const Graph graph = three_calls();
  const MemoryTimeline memory(graph);
  const PeakExplanation e = explain_peak(graph, memory, as_predicted(memory));
  EXPECT_EQ(e.difference, 0);
  EXPECT_EQ(e.scratch, 0);
  EXPECT_EQ(e.held, 0);
  EXPECT_TRUE(e.operators.empty());
  EXPECT_FALSE(e.first_different);
  EXPECT_EQ(graph.name(e.peak_node), "b");
}

// A GPU's allocator rounds sizes up to 512 bytes, as the prediction does, and may give blocks that
// are larger still. The bytes that the graph holds are compared without rounding.
TEST(Explanation, TheAllocatorsRoundingIsReportedSeparately) {
  auto graph = parse(R"(
    x: f32[10] = input
    a: f32[10] = aten.relu(x)
    return [a]
  )");
  const MemoryTimeline memory(graph);
  ASSERT_EQ(memory.peak_bytes(), 1024);
  RankMeasured m;
  m.peak_bytes = 4096;
  m.requested_peak_bytes = 100;
  m.resident_peak_bytes = 80;
  m.memory_profile = {40, 80, 80};
  const PeakExplanation e = explain_peak(graph, memory, m);
  EXPECT_EQ(e.difference, 3072);
  EXPECT_EQ(e.held, 0);
  EXPECT_EQ(e.scratch, 20);
  EXPECT_EQ(e.rounding, 3052);
  EXPECT_EQ(e.held + e.scratch + e.rounding, e.difference);
  EXPECT_FALSE(e.first_different);
}

TEST(Explanation, TheOptimizersStateIsComparedWithoutRounding) {
  const Graph graph = parse("w: f32[10] = parameter\na: f32[10] = aten.relu(w)\nreturn [a]");
  const MemoryTimeline memory(graph, {.optimizer = OptimizerState::adamw});
  ASSERT_EQ(memory.peak_bytes(), 5 * 512);
  RankMeasured m;
  m.peak_bytes = 5 * 512;
  m.requested_peak_bytes = m.resident_peak_bytes = 4 * 40 + 4;
  const PeakExplanation e = explain_peak(graph, memory, m);
  EXPECT_EQ(e.difference, 0);
  EXPECT_EQ(e.held, 0);
  EXPECT_EQ(e.scratch, 0);
  EXPECT_EQ(e.rounding, 0);
}

TEST(Explanation, ScratchNamesItsOperator) {
  const Graph graph = three_calls();
  const MemoryTimeline memory(graph);
  RankMeasured m = as_predicted(memory);
  m.scratch = {{1, 8}, {2, 16}, {3, 100}, {99, 5}};
  m.peak_bytes = 220;
  const PeakExplanation e = explain_peak(graph, memory, m);
  EXPECT_EQ(e.difference, 100);
  EXPECT_EQ(e.scratch, 100);
  EXPECT_EQ(e.held, 0);
  ASSERT_EQ(e.operators.size(), 2U);
  EXPECT_EQ(e.operators[0].target, "aten.relu.default");
  EXPECT_EQ(e.operators[0].calls, 2U);
  EXPECT_EQ(e.operators[0].max_bytes, 100);
  EXPECT_EQ(graph.name(e.operators[0].node), "c");
  EXPECT_EQ(graph.name(e.peak_node), "c");
}

TEST(Explanation, RetainedMemoryNamesTheFirstNodeThatDiffers) {
  const Graph graph = three_calls();
  const MemoryTimeline memory(graph);
  RankMeasured m = as_predicted(memory);
  m.memory_profile[4] += 40;  // `a` outlives `b`
  m.memory_profile[5] += 40;
  m.peak_bytes = m.resident_peak_bytes = 160;
  const PeakExplanation e = explain_peak(graph, memory, m);
  EXPECT_EQ(e.held, 40);
  EXPECT_EQ(graph.name(e.first_different), "b");
  EXPECT_EQ(e.first_difference, 40);
}

// Its peak is not scratch memory of one of its nodes, nor a difference of one of them.
TEST(Explanation, ACompiledBlockIsNamedAsOne) {
  const Graph graph = three_calls();
  const MemoryTimeline memory(graph);
  RankMeasured m = as_predicted(memory);
  m.blocks = {{.name = "region 1", .positions = {3}, .peak_bytes = 100, .own_ns = 5},
              {.name = "region 2", .positions = {1, 2}, .peak_bytes = 300, .own_ns = 7}};
  for (const std::size_t point : {1U, 2U, 3U, 4U}) m.memory_profile[point] = 300;
  m.peak_bytes = m.resident_peak_bytes = 300;
  const PeakExplanation e = explain_peak(graph, memory, m);
  EXPECT_EQ(e.scratch, 0);
  EXPECT_EQ(e.held, 180);
  EXPECT_TRUE(e.operators.empty());
  EXPECT_FALSE(e.peak_node) << "a block was running";
  EXPECT_FALSE(e.first_different);
  ASSERT_EQ(e.blocks.size(), 2U);
  EXPECT_EQ(e.blocks[0].name, "region 2");
  EXPECT_EQ(e.blocks[0].nodes, 2U);
  EXPECT_EQ(e.blocks[0].peak_bytes, 300);
  EXPECT_EQ(e.blocks[1].ns, 5);
  // A node outside of the blocks that differs is still named.
  m.blocks.erase(m.blocks.begin());
  m.memory_profile[6] += 1;
  EXPECT_EQ(graph.name(explain_peak(graph, memory, m).first_different), "c");
}

TEST(Explanation, WithoutAProfileOnlyTotalsAreKnown) {
  const Graph graph = three_calls();
  const MemoryTimeline memory(graph);
  RankMeasured m;
  m.peak_bytes = 300;
  m.resident_peak_bytes = 120;
  const PeakExplanation e = explain_peak(graph, memory, m);
  EXPECT_EQ(e.difference, 180);
  EXPECT_EQ(e.scratch, 180);
  EXPECT_FALSE(e.peak_node);
  EXPECT_FALSE(e.first_different);
}

}  // namespace
}  // namespace jointer::test
