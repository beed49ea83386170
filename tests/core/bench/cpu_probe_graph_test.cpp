#include "core/bench/cpu_probe_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

using namespace std::string_view_literals;

// A call takes 2 us, memory moves 10 bytes a nanosecond, and products compute 100 FLOPs.
std::int64_t time_of(const Graph& graph, NodeId id) {
  constexpr double kCall = 2000, kBytes = 10, kFlops = 100;
  const Node& node = graph.node(id);
  const std::string_view target = graph.target(node), name = graph.name(id);
  const auto numel = [&] { return static_cast<double>(graph.numel(graph.tensors(node).front())); };
  double ns = kCall;
  if (target == "aten.add.Tensor")
    ns = name.starts_with("add0") ? kCall : kCall + numel() * 12 / kBytes;
  if (name.starts_with("crossed")) ns += numel() * 4 / kBytes;  // that operand takes twice as long
  if (target == "aten.view.default") ns = 300;
  if (target == "aten.silu.default") ns += numel() / 2;
  if (target == "aten.sum.dim_IntList") ns += 512 * 512 * 4 / kBytes * (name[0] == 'c' ? 4 : 1);
  if (target == "aten.mm.default") {
    const auto size = static_cast<double>(graph.shape(graph.tensors(node).front())[0].value);
    ns = 5000 + 2 * size * size * size / kFlops;
  }
  if (target.find("attention") != std::string_view::npos) {
    const bool backward = target.find("backward") != std::string_view::npos;
    const auto head = static_cast<double>(graph.shape(graph.tensors(node).front())[3].value);
    const double flops = (backward ? 2.5 : 1) * 2.0 * 2 * 512 * 512 * head;
    ns = 5000 + flops / (kFlops / 2);
  }
  if (name.starts_with("gather_small")) ns = 50'000;
  if (name.starts_with("gather_large")) ns = 50'000 + (1 << 22) / 4.0;
  return static_cast<std::int64_t>(ns);
}

Measurement run_of(const Graph& graph) {
  Measurement run;
  for (const NodeId id : graph.order()) {
    if (graph.node(id).kind == NodeKind::call)
      run.nodes.push_back({.node = id, .own_ns = time_of(graph, id)});
  }
  return run;
}

TEST(CpuProbeGraph, IsAValidGraph) {
  for (const bool has_collectives : {false, true})
    for (const std::int64_t last : {0LL, 32LL << 20, 1LL << 30}) {
      const Graph graph = parse(cpu_probe_text(has_collectives, last));
      EXPECT_EQ(graph.main_device(), DeviceType::cpu);
      std::int64_t inputs = 0;
      for (const NodeId id : graph.order())
        if (graph.node(id).kind == NodeKind::placeholder)
          inputs += graph.output_bytes(graph.node(id));
      EXPECT_LT(inputs, std::int64_t{512} << 20) << "the probe needs little memory";
    }
}

TEST(CpuProbeGraph, RatesFollowFromTimes) {
  const Graph graph = parse(cpu_probe_text(true, 0));
  const ProbedRank rank = must(probed_rank(graph, run_of(graph), 3));
  EXPECT_EQ(rank.threads, 3);
  EXPECT_TRUE(rank.shares_machine);
  EXPECT_DOUBLE_EQ(rank.kernels.launch_us, 2);
  EXPECT_DOUBLE_EQ(rank.operator_us, 0.3);
  ASSERT_GE(rank.kernels.levels.size(), 5U);
  for (const KernelRates::Level& level : rank.kernels.levels) {
    EXPECT_NEAR(level.gbps, 10, 0.1) << level.bytes;
    EXPECT_EQ(level.bytes % 12, 0);
  }
  EXPECT_NEAR(rank.memory_gbps, 10, 0.1);
  EXPECT_NEAR(rank.kernels.strided, 0.5, 0.01);
  EXPECT_NEAR(rank.kernels.row_reduction, 1, 0.01);
  EXPECT_NEAR(rank.kernels.column_reduction, 0.25, 0.01);
  EXPECT_NEAR(rank.kernels.special_gops, 2, 0.01);
  EXPECT_NEAR(rank.kernels.product_us, 5, 0.2);
  EXPECT_NEAR(rank.float32_tflops, 0.1, 0.001);
  EXPECT_NEAR(rank.bfloat16_tflops, 0.1, 0.001);
  ASSERT_EQ(rank.kernels.attention.size(), 3U);
  for (const KernelRates::Attention& each : rank.kernels.attention) {
    EXPECT_NEAR(each.forward, 0.5, 0.02) << each.head_size;
    EXPECT_NEAR(each.backward, 0.5, 0.02) << each.head_size;
  }
  EXPECT_EQ(rank.kernels.attention.front().head_size, 32);
  EXPECT_NEAR(rank.collective_us, 50, 0.1);
  EXPECT_NEAR(rank.link_gbps, 4, 0.01);
}

// Another program that runs at the same time makes a call longer, not shorter.
TEST(CpuProbeGraph, TheShorterOfTwoTimesAndTheMedianOfThreeCallsCount) {
  const Graph graph = parse(cpu_probe_text(false, 0));
  Measurement run = run_of(graph);
  for (MeasuredNode& node : run.nodes) {
    const std::string_view name = graph.name(node.node);
    if (name == "mm512_1"sv) node.own_ns *= 100;
    if (name.starts_with("rows")) {
      node.start_ns = 1000;
      node.end_ns = 1000 + node.own_ns;
      node.own_ns *= 100;
    }
  }
  const ProbedRank rank = must(probed_rank(graph, run, 1));
  EXPECT_NEAR(rank.float32_tflops, 0.1, 0.001);
  EXPECT_NEAR(rank.kernels.row_reduction, 1, 0.01);
}

TEST(CpuProbeGraph, NeedsATimeOfEveryCall) {
  const Graph graph = parse(cpu_probe_text(false, 0));
  Measurement run = run_of(graph);
  std::erase_if(run.nodes,
                [&](const MeasuredNode& node) { return graph.name(node.node) == "mm512_1"sv; });
  const auto rank = probed_rank(graph, run, 1);
  ASSERT_FALSE(rank.has_value());
  EXPECT_EQ(rank.error().kind, Error::Kind::run);
  EXPECT_THAT(rank.error().message, testing::HasSubstr("mm512_1"));
}

}  // namespace
}  // namespace jointer::test
