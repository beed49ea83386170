// The memory and time of copies to the host and back: ao.offload, ao.reload and their waits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/graph/validate.h"
#include "core/schedule/memory_timeline.h"
#include "core/schedule/simulation.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;

// 1 MiB each. `a` is on the host while `b` runs.
constexpr const char* kThereAndBack = R"(
  x: f32[262144] = input
  a: f32[262144] = aten.relu(x)
  device cpu
  off: f32[262144] = ao.offload(a)
  host: f32[262144] = ao.wait_tensor(off, a)
  device cuda:0
  b: f32[262144] = aten.sin(x)
  back: f32[262144] = ao.reload(host, 'cuda:0')
  c: f32[262144] = aten.cos(b)
  again: f32[262144] = ao.wait_tensor(back)
  d: f32[262144] = aten.mul.Tensor(again, c)
  return [d]
)";
constexpr std::int64_t kMib = 1 << 20;

TEST(Transfers, AreKnownOperatorsOfASoundGraph) {
  const Graph graph = parse(kThereAndBack);
  EXPECT_TRUE(validate(graph));
  EXPECT_TRUE(graph.is_transfer(node(graph, "off")));
  EXPECT_FALSE(graph.is_collective_start(node(graph, "off")));
  EXPECT_TRUE(graph.is_wait(node(graph, "again")));
  EXPECT_EQ(graph.collective_of_wait(node(graph, "host")), graph.find("off"));
  EXPECT_EQ(storage_of(graph, "again"), storage_of(graph, "back"));
}

TEST(Transfers, TheWaitFreesDeviceMemoryAndTheReloadAllocatesIt) {
  const Graph graph = parse(kThereAndBack);
  const MemoryTimeline memory(graph);
  const auto after = [&](const char* name) {
    return memory.profile()[2 + 2 * *memory.step_of(graph.find(name))] / kMib;
  };
  EXPECT_EQ(after("a"), 2);     // x, a
  EXPECT_EQ(after("off"), 2);   // still being copied
  EXPECT_EQ(after("host"), 1);  // x
  EXPECT_EQ(after("b"), 2);
  EXPECT_EQ(after("back"), 3);
  const auto category = [&](const char* name) {
    return memory.lifetimes()[*memory.lifetime_of(storage_of(graph, name))].category;
  };
  EXPECT_EQ(category("a"), MemoryCategory::saved_activation);
  EXPECT_EQ(category("back"), MemoryCategory::saved_activation);
  // On the CPU the host's copy counts as well.
  const MemoryTimeline on_cpu(graph, {.runs_on = DeviceType::cpu});
  EXPECT_EQ(on_cpu.profile()[2 + 2 * *on_cpu.step_of(graph.find("off"))] / kMib, 3);
}

TEST(Transfers, RunOnASeparateStreamAndStallIfNeededTooEarly) {
  const Graph graph = parse(kThereAndBack);
  std::vector<NodeCost> costs(graph.node_count());
  const auto set = [&](const char* name, std::int64_t ns, NodeCost::Lane lane) {
    costs[graph.find(name).index()] = {.lane = lane, .ns = ns};
  };
  for (const char* name : {"a", "b", "c", "d"}) set(name, 10, NodeCost::Lane::compute);
  for (const char* name : {"off", "back"}) set(name, 25, NodeCost::Lane::transfer);
  const Simulation simulation(graph, costs);
  std::vector<std::string> streams;
  for (const Stream& stream : simulation.streams()) streams.push_back(stream.name);
  EXPECT_THAT(streams, ElementsAre("compute", "copy"));
  // a 0-10, off 10-35 waited for at once, b 35-45, back 45-70 in parallel with c 45-55, d 70-80.
  EXPECT_EQ(simulation.step_ns(), 80);
  EXPECT_EQ(simulation.transfer_ns(), 50);
  EXPECT_EQ(simulation.communication_ns(), 0);
  EXPECT_EQ(simulation.collective_count(), 0U);
  EXPECT_EQ(simulation.exposed_ns(), 25 + 15);
  const CollectiveTiming& back =
      simulation
          .collectives()[static_cast<std::size_t>(simulation.collective_of(graph.find("back")))];
  EXPECT_EQ(back.exposed_ns, 15);
  EXPECT_EQ(back.reason.kind, ExposureReason::Kind::order);
  EXPECT_TRUE(back.reason.before);
  EXPECT_EQ(reason_text(graph, back).empty(), false);
}

TEST(Transfers, EveryEstimatorUsesTheHostLink) {
  const Graph graph = parse(kThereAndBack);
  for (const char* name : {"roofline", "simple", "torch-2.11", "torch-2.15"}) {
    const auto estimator = make_estimator({.name = name}).value();
    const NodeCost cost = estimator->estimate(graph, graph.find("off"));
    EXPECT_EQ(cost.lane, NodeCost::Lane::transfer) << name;
    EXPECT_EQ(cost.ns, 19065) << name;  // 1 MiB at an H100's 55 GB/s
    EXPECT_FALSE(cost.blocks_host);
    EXPECT_EQ(estimator->transfer_costs().of(kMib).ns, cost.ns);
    EXPECT_EQ(estimator->transfer_costs().of(kMib).host_ns, cost.host_ns);
    EXPECT_EQ(estimator->transfer_costs().wait_host_ns,
              estimator->estimate(graph, graph.find("host")).host_ns);
  }
}

}  // namespace
}  // namespace jointer::test
