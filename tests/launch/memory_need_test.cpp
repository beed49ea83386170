#include "app/launch/memory_need.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/literal.h"

namespace jointer::test {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Its peak is 8 MiB.
Graph of_eight_mebibytes() {
  return *parse_literal(
      "device cpu\nx: f32[1024,1024] = input\na: f32[1024,1024] = aten.relu(x)\nreturn [a]");
}

TEST(MemoryNeed, AllRanksMustFitInTheFreeMemory) {
  const Graph graph = of_eight_mebibytes();
  const Machine machine{.free_bytes = 40 * kMiB};
  EXPECT_FALSE(memory_shortage(graph, {.ranks = 4}, machine));
  const auto shortage = memory_shortage(graph, {.ranks = 5}, machine);
  ASSERT_TRUE(shortage);
  EXPECT_EQ(shortage->ranks, 5);
  EXPECT_GE(shortage->need_bytes, 8 * kMiB);
  EXPECT_EQ(shortage->share_bytes, 40 * kMiB / 10 * 9 / 5);
  EXPECT_EQ(to_text(*shortage),
            "each of the 5 ranks needs 8.00 MiB, but its share of the free memory is 7.20 MiB");
}

TEST(MemoryNeed, ASingleRankNeedsOnlyItsOwnMemory) {
  const Graph graph = of_eight_mebibytes();
  EXPECT_FALSE(memory_shortage(graph, {.solo = 3}, {.free_bytes = 10 * kMiB}));
  const auto shortage = memory_shortage(graph, {.solo = 3}, {.free_bytes = 5 * kMiB});
  ASSERT_TRUE(shortage);
  EXPECT_THAT(to_text(*shortage), testing::StartsWith("the rank needs 8.00 MiB"));
}

TEST(MemoryNeed, EveryRankHasItsOwnGpuMemory) {
  const Graph graph = of_eight_mebibytes();
  const Machine machine{.gpus = 8, .free_bytes = kMiB, .gpu_bytes = 9 * kMiB};
  EXPECT_FALSE(memory_shortage(graph, {.ranks = 8, .on = RunOn::cuda}, machine));
  EXPECT_TRUE(memory_shortage(graph, {.ranks = 8, .on = RunOn::cpu}, machine));
  const auto shortage =
      memory_shortage(graph, {.ranks = 2, .on = RunOn::cuda}, {.gpus = 2, .gpu_bytes = 7 * kMiB});
  ASSERT_TRUE(shortage);
  EXPECT_THAT(to_text(*shortage), testing::EndsWith("but its GPU has 7.00 MiB"));
}

TEST(MemoryNeed, AMachineWithGpusRunsEveryCaptureOnThem) {
  EXPECT_EQ(device_of_run({}, {.gpus = 1}), DeviceType::cuda);
  EXPECT_EQ(device_of_run({}, {}), DeviceType::cpu);
  EXPECT_EQ(device_of_run({.on = RunOn::cpu}, {.gpus = 1}), DeviceType::cpu);
  EXPECT_EQ(device_of_run({.on = RunOn::cuda}, {}), DeviceType::cuda);
}

TEST(MemoryNeed, IsNotComparedWithUnknownMemory) {
  const Graph graph = of_eight_mebibytes();
  EXPECT_FALSE(memory_shortage(graph, {.ranks = 64}, {}));
  EXPECT_FALSE(memory_shortage(graph, {.ranks = 64, .on = RunOn::cuda}, {.gpus = 64}));
}

}  // namespace
}  // namespace jointer::test
