#include "core/schedule/memory_timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/schedule/analysis.h"
#include "core/schedule/caching_allocator.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer {
namespace {

using test::parse;
using testing::ElementsAre;

TEST(MemoryTimeline, CountsAllocationsAndFreesByStorage) {
  // On the CPU nothing is rounded, so the numbers are those of the tensors.
  const Graph graph = parse(R"(
    device cpu
    x: f32[10] = input
    a: f32[10] = aten.relu(x)
    b: f32[10] = aten.view(a, [10])
    c: f32[5] = aten.slice.Tensor(b, 0, 0, 5)
    d: f32[20] = aten.cat([a, x])
    return [d]
  )");
  const MemoryTimeline timeline(graph);
  // x stays live; a is live through its views b and c until c, which is unused; then d is
  // allocated.
  EXPECT_THAT(timeline.profile(), ElementsAre(40, 80, 80, 80, 80, 80, 80, 160, 120));
  EXPECT_EQ(timeline.peak_bytes(), 160);
  EXPECT_EQ(timeline.peak_index(), 7U);
  EXPECT_EQ(graph.name(timeline.node_at(7)), "d");
  EXPECT_EQ(timeline.static_bytes(), 40);
}

TEST(MemoryTimeline, RoundsOnCudaLikeTheAllocator) {
  const Graph graph = parse("x: f32[10] = input\na: f32[129] = aten.relu(x)\nreturn [a]");
  EXPECT_THAT(MemoryTimeline(graph).profile(), ElementsAre(512, 512 + 1024, 512 + 1024));
}

TEST(MemoryTimeline, FreesUnusedResults) {
  const Graph graph = parse(R"(
    device cpu
    x: f32[10] = input
    unused: f32[10] = aten.relu(x)
    y: f32[10] = aten.relu(x)
    return [y]
  )");
  EXPECT_THAT(MemoryTimeline(graph).profile(), ElementsAre(40, 80, 40, 80, 80));
}

TEST(MemoryTimeline, PinsACollectivesInputUntilItsWait) {
  const Graph graph = parse(R"(
    device cpu
    group tp: 0 1
    x: f32[10] = input
    a: f32[10] = aten.relu(x)
    ar: f32[10] = _c10d_functional.all_reduce(a, 'sum', 'tp')
    other: f32[1] = aten.sum(x)
    w: f32[10] = _c10d_functional.wait_tensor(ar)
    y: f32[10] = aten.relu(w)
    return [y, other]
  )");
  // The wait returns the collective's own buffer: it allocates nothing and frees a.
  EXPECT_THAT(MemoryTimeline(graph).profile(),
              ElementsAre(40, 80, 80, 120, 120, 124, 124, 124, 84, 124, 84));
}

TEST(MemoryTimeline, AttributesBytesToCategories) {
  const Graph graph = parse(R"(
    device cpu
    group fsdp: 0 1
    w: f32[8] = parameter
    x: f32[16] = input
    dy: f32[16] = tangent
    ag: f32[16] = _c10d_functional.all_gather_into_tensor(w, 2, 'fsdp')
    full: f32[16] = _c10d_functional.wait_tensor(ag)
    h: f32[16] = aten.mul.Tensor(x, full)
    y: f32[16] = aten.relu(h)
    t: f32[16] = aten.mul.Tensor(dy, h)                                             {backward}
    g: f32[8] = _c10d_functional.reduce_scatter_tensor(t, 'sum', 2, 'fsdp')         {backward}
    gw: f32[8] = _c10d_functional.wait_tensor(g)                                    {backward}
    return [y, gw]
  )");
  const MemoryTimeline timeline(graph);
  const auto category = [&](const char* name) {
    const StorageId storage = graph.real_storage(graph.tensors(graph.find(name)).front().storage);
    return timeline.lifetimes()[*timeline.lifetime_of(storage)].category;
  };
  EXPECT_EQ(category("w"), MemoryCategory::parameter);
  EXPECT_EQ(category("x"), MemoryCategory::input);
  EXPECT_EQ(category("dy"), MemoryCategory::tangent);
  EXPECT_EQ(category("ag"), MemoryCategory::communication);
  EXPECT_EQ(category("h"), MemoryCategory::saved_activation);
  EXPECT_EQ(category("y"), MemoryCategory::output);
  EXPECT_EQ(category("t"), MemoryCategory::temporary);
  EXPECT_EQ(category("g"), MemoryCategory::gradient);
  for (std::size_t i = 0; i < timeline.profile().size(); ++i) {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : timeline.at(i)) sum += bytes;
    EXPECT_EQ(sum, timeline.profile()[i]) << i;
    std::int64_t alive = 0;
    for (const std::size_t l : timeline.alive_at(i)) alive += timeline.lifetimes()[l].bytes;
    EXPECT_EQ(alive, timeline.profile()[i]) << i;
    std::int64_t curves = 0;
    for (const auto& curve : timeline.by_category()) curves += curve[i];
    EXPECT_EQ(curves, timeline.profile()[i]) << i;
    if (i == 0) continue;
    EXPECT_EQ(timeline.point_of(timeline.node_at(i), MemoryTimeline::is_after_frees(i)), i);
  }
  EXPECT_EQ(timeline.point_of(graph.find("w")), std::nullopt);
}

TEST(MemoryTimeline, AddsOptimizerStateOnRequest) {
  const Graph graph = parse("w: bf16[1024] = parameter\ny: bf16[1024] = aten.relu(w)\nreturn [y]");
  const std::int64_t without = MemoryTimeline(graph).static_bytes();
  const MemoryTimeline adamw(graph, {.optimizer = OptimizerState::adamw});
  EXPECT_EQ(adamw.static_bytes() - without, 2 * 4096 + 512);
}

TEST(MemoryTimeline, TheOptimizerStateOfAbsurdShapesDoesNotOverflow) {
  const Graph graph = parse(
      "w: i8[2305843009213693952] = parameter\nv: i8[1024] = parameter\n"
      "y: i8[1024] = aten.relu(v)\nreturn [y]");
  const MemoryTimeline timeline(graph, {.optimizer = OptimizerState::adamw});
  EXPECT_GT(timeline.static_bytes(), graph.numel(graph.tensors(graph.node(graph.find("w")))[0]));
}

TEST(MemoryTimeline, ReleasesABackwardsSavedTensorsAndTangents) {
  const Graph graph = parse(R"(
    kind backward
    device cpu
    w: f32[10] = parameter
    h: f32[10] = saved
    dy: f32[10] = tangent
    a: f32[10] = aten.mul.Tensor(dy, h)
    b: f32[10] = aten.mul.Tensor(a, w)
    return [b]
  )");
  EXPECT_THAT(MemoryTimeline(graph).profile(), ElementsAre(120, 160, 80, 120, 80));
}

TEST(MemoryTimeline, AcceptsAPlaceholderAfterTheLastCall) {
  const Graph graph = parse(R"(
    device cpu
    x: f32[10] = input
    a: f32[10] = aten.relu(x)
    dy: f32[20] = tangent
    return [a, dy]
  )");
  EXPECT_THAT(MemoryTimeline(graph).profile(), ElementsAre(40, 160, 160));
  EXPECT_EQ(simulate_reserved(MemoryTimeline(graph), DeviceType::cuda).bytes.size(), 3U);
}

// A graph for a GPU that runs on the CPU: nothing is rounded, and its CPU tensors count, too.
TEST(MemoryTimeline, CountsOnTheDeviceThatRuns) {
  const Graph graph = parse(R"(
    x: f32[10] = input
    device cpu
    c: f32[3] = constant
    device cuda:0
    a: f32[10] = aten.add.Tensor(x, c)
    return [a]
  )");
  EXPECT_THAT(MemoryTimeline(graph).profile(), ElementsAre(512, 1024, 1024));
  const MemoryTimeline on_cpu(graph, {.runs_on = DeviceType::cpu});
  EXPECT_THAT(on_cpu.profile(), ElementsAre(52, 92, 92));
  EXPECT_EQ(on_cpu.device(), DeviceType::cpu);
  const MemoryTimeline with_optimizer(
      parse("w: f32[10] = parameter\na: f32[10] = aten.relu(w)\nreturn [a]"),
      {.optimizer = OptimizerState::adamw, .runs_on = DeviceType::cpu});
  EXPECT_THAT(with_optimizer.profile(), ElementsAre(124, 164, 164));
  const auto analysis = test::must(
      analyze(graph, {.memory = {.runs_on = DeviceType::cpu}, .estimator = {.device = ""}}));
  EXPECT_EQ(analysis.device.id, "cpu");
  EXPECT_EQ(analysis.reserved.peak_bytes, 92);
}

TEST(MemoryTimeline, ACpuGraphRoundsOnAGpu) {
  const Graph graph =
      parse("device cpu\nx: f32[10] = input\na: f32[10] = aten.relu(x)\nreturn [a]");
  EXPECT_THAT(MemoryTimeline(graph, {.runs_on = DeviceType::cuda}).profile(),
              ElementsAre(512, 1024, 1024));
}

TEST(CachingAllocator, ReservesSegmentsAndReusesBlocks) {
  // Two 3 MiB tensors, never live together except for x: the large pool reserves 20 MiB once.
  const Graph graph = parse(R"(
    x: f32[786432] = input
    a: f32[786432] = aten.relu(x)
    b: f32[786432] = aten.relu(a)
    c: f32[786432] = aten.relu(b)
    return [c]
  )");
  const MemoryTimeline timeline(graph);
  const ReservedProfile reserved = simulate_reserved(timeline, graph.main_device());
  EXPECT_EQ(timeline.peak_bytes(), 9 << 20);
  EXPECT_EQ(reserved.peak_bytes, 20 << 20);
  EXPECT_EQ(reserved.bytes.size(), timeline.profile().size());
}

TEST(CachingAllocator, SeparatesSmallAndLargeRequests) {
  const Graph graph = parse(
      "x: f32[128] = input\na: f32[4194304] = aten.expand(x, [4194304])\n"
      "b: f32[4194304] = aten.clone(a)\nreturn [b]");
  const MemoryTimeline timeline(graph);
  // 512 B come from a small segment of 2 MiB; 16 MiB have a separate segment.
  EXPECT_EQ(simulate_reserved(timeline, graph.main_device()).peak_bytes, 18 << 20);
}

// Six tensors of 3 MiB fill a segment of 20 MiB up to 2 MiB; two neighbors are freed, and 6 MiB
// are requested.
std::int64_t reserved_after(std::string_view first_freed, std::string_view then_freed) {
  std::string text = "device cuda:0\nx: f32[128] = input\n";
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    text += fmt::format("{}: f32[786432] = aten.expand_copy(x, [786432])\n", name);
  text +=
      fmt::format("u: f32[1] = aten.sum({})\nv: f32[1] = aten.sum({})\n", first_freed, then_freed);
  text += "g: f32[1572864] = aten.expand_copy(x, [1572864])\n";
  std::string rest;
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    if (name != first_freed && name != then_freed) rest += std::string(name) + ", ";
  text += "return [" + rest + "u, v, g]";
  const Graph graph = parse(text);
  return simulate_reserved(MemoryTimeline(graph), graph.main_device()).peak_bytes;
}

TEST(CachingAllocator, MergesFreeNeighborsInEitherOrder) {
  constexpr std::int64_t kSmall = 2 << 20, kLarge = 20 << 20;
  EXPECT_EQ(reserved_after("b", "c"), kSmall + kLarge) << "c joins the free block before it";
  EXPECT_EQ(reserved_after("c", "b"), kSmall + kLarge) << "b joins the free block after it";
  EXPECT_EQ(reserved_after("b", "d"), kSmall + 2 * kLarge) << "no neighbors: fragmentation";
  EXPECT_EQ(reserved_after("f", "e"), kSmall + kLarge) << "it also joins the rest of the segment";
}

}  // namespace
}  // namespace jointer
