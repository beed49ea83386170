#include "core/bench/rank_measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/bench/calibrate.h"
#include "core/bench/reached_rates.h"
#include "core/graph/canonical.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"

namespace jointer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kRanksGraph = R"(
  group tp: 0 1
  x: bf16[64,64] = input
  a: bf16[64,64] = aten.mm(x, x)
  ar: bf16[64,64] = _c10d_functional.all_reduce(a, 'sum', 'tp')
  w: bf16[64,64] = _c10d_functional.wait_tensor(ar)
  return [w]
)";

class RankMeasurements : public testing::Test {
 protected:
  // A profiled run of two ranks.
  [[nodiscard]] BenchmarkResult two_ranks() const {
    BenchmarkResult result;
    result.graph_name = "graph";
    result.graph_hash = graph_hash(graph);
    for (int rank = 0; rank < 2; ++rank) {
      RankResult& each = result.ranks.emplace_back();
      each.rank = rank;
      each.started = RankStarted{.rank = rank,
                                 .world_size = 2,
                                 .device = "NVIDIA H200",
                                 .device_type = "cuda",
                                 .hash = "00"};
      each.measured = RankMeasured{
          .step_ns = {100},
          .nodes = {{1, 10, 40, 30}},
          .kernels = {{1, "late", 7, 30, 40}, {1, "early", 9, 10, 20}, {99, "elsewhere", 7, 1, 2}}};
    }
    return result;
  }
  Graph graph = parse(kRanksGraph);
};

TEST_F(RankMeasurements, CarryKernelsWithTheirNodes) {
  const auto ranks = must(profiled_ranks(graph, two_ranks()));
  ASSERT_EQ(ranks.size(), 2U);
  const Measurement& m = ranks.front();
  EXPECT_EQ(m.label, "rank 0, interpret");
  EXPECT_EQ(m.device, "NVIDIA H200");
  EXPECT_EQ(m.device_type, "cuda");
  EXPECT_FALSE(m.alone);
  ASSERT_EQ(m.kernels.size(), 2U) << "one is of a node that the graph does not have";
  EXPECT_EQ(m.kernels[0].name, "early");
  EXPECT_EQ(m.kernels[0].node, graph.find("a"));
  EXPECT_EQ(m.kernels[0].stream, 9);
  EXPECT_EQ(m.kernels[0].start_ns, 10);
  EXPECT_EQ(m.kernels[0].end_ns, 20);
  EXPECT_EQ(m.kernels[1].name, "late");
}

TEST_F(RankMeasurements, CarryThePropertiesOfTheirGpu) {
  BenchmarkResult result = two_ranks();
  const GpuProperties l40s{"NVIDIA L40S", 8, 9, 142, 2520, 9001, 384, 48'000'000'000};
  result.ranks[0].started->gpu = l40s;
  const Measurement measurement = measurement_of(graph, result, result.ranks[0]);
  EXPECT_EQ(measurement.gpu, l40s);
  EXPECT_EQ(cost_samples(graph, measurement).gpu, device_text(l40s));
  EXPECT_FALSE(measurement_of(graph, result, result.ranks[1]).gpu);
}

TEST_F(RankMeasurements, OfAnotherGraphAreRefused) {
  BenchmarkResult result = two_ranks();
  result.graph_hash = "0123456789";
  const auto other = profiled_ranks(graph, result);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, Error::Kind::input);
  EXPECT_THAT(other.error().message, HasSubstr("a run of another graph: graph (hash 01234567)"));
  EXPECT_THAT(other.error().message, HasSubstr(graph_hash(graph).substr(0, 8)));
  result.graph_hash = "";
  EXPECT_FALSE(profiled_ranks(graph, result));
}

TEST_F(RankMeasurements, NeedAProfile) {
  BenchmarkResult result = two_ranks();
  result.ranks[0].measured->nodes.clear();
  result.ranks[1].measured.reset();
  const auto none = profiled_ranks(graph, result);
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("--profile"));
  result.ranks.clear();
  EXPECT_FALSE(profiled_ranks(graph, result));
}

// With a file per rank, the positions of other ranks' nodes refer to other graphs.
TEST_F(RankMeasurements, LeaveOutRanksWithOtherGraphs) {
  BenchmarkResult result = two_ranks();
  result.ranks[1].started->hash = "11";
  const auto ranks = must(profiled_ranks(graph, result));
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_EQ(ranks.front().label, "rank 0, interpret");
}

TEST_F(RankMeasurements, ReachRatesOfTheirDevice) {
  const Analysis analysis = *analyze(graph, {.estimator = {.device = "h200"}});
  Measurement m{.label = "rank 0", .device = "NVIDIA H200", .device_type = "cuda"};
  const NodeId product = graph.find("a"), reduce = graph.find("ar");
  EXPECT_THAT(reached_rates(graph, analysis, m, product, 1000), HasSubstr("of peak"));
  EXPECT_THAT(reached_rates(graph, analysis, m, reduce, 1000), HasSubstr("bus bandwidth"));
  EXPECT_EQ(reached_rates(graph, analysis, m, graph.find("w"), 1000), "");
  m.alone = true;
  EXPECT_EQ(reached_rates(graph, analysis, m, reduce, 1000), "") << "a local copy";
  m.device = "NVIDIA GeForce RTX 4090";
  EXPECT_THAT(reached_rates(graph, analysis, m, product, 1000), testing::Not(HasSubstr("of peak")));
}

}  // namespace
}  // namespace jointer::test
