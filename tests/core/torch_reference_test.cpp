// On every graph in the shared references, the FLOPs per node, NCCL milliseconds and every point of
// the memory profile equal what torch 2.11 computed.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/cost/node_flops.h"
#include "core/cost/torch_nccl.h"
#include "core/open/open.h"
#include "core/schedule/memory_timeline.h"
#include "tests/support/paths.h"
#include "tests/support/reference.h"

namespace jointer::test {
namespace {

class TorchReference : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    JOINTER_NEEDS_SHARED();
    auto opened = open_graph({.path = capture_path(GetParam())});
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    graph = *std::move(opened);
    reference = load_reference(GetParam());
  }

  Graph graph;
  nlohmann::json reference;
};

TEST_P(TorchReference, HasTheSameNodesFlopsAndOutputBytes) {
  const auto& names = reference["names"];
  ASSERT_EQ(names.size(), graph.node_count());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const NodeId id = graph.order()[i];
    const Node& n = graph.node(id);
    ASSERT_EQ(names[i].get<std::string>(), graph.name(id));
    EXPECT_EQ(reference["flops"][i].get<std::int64_t>(), node_flops(graph, n).torch_registry)
        << graph.name(id);
    EXPECT_EQ(reference["output_bytes"][i].get<std::int64_t>(), graph.output_bytes(n))
        << graph.name(id);
  }
}

TEST_P(TorchReference, HasTheSameMemoryProfileAtEveryPoint) {
  const MemoryTimeline timeline(graph, {.rules = MemoryRules::torch});
  const auto expected = reference["memory_profile"].get<std::vector<std::int64_t>>();
  const std::vector<std::int64_t> actual(timeline.profile().begin(), timeline.profile().end());
  EXPECT_EQ(actual, expected);
  EXPECT_EQ(timeline.peak_bytes(), reference["memory_profile_peak"].get<std::int64_t>());
  EXPECT_EQ(timeline.peak_index(), reference["memory_profile_peak_index"].get<std::size_t>());
}

TEST_P(TorchReference, HasTheSameCollectiveTimes) {
  const auto& indices = reference["collective_index"];
  std::size_t next = 0;
  for (std::size_t i = 0; i < graph.order().size(); ++i) {
    const Node& n = graph.node(graph.order()[i]);
    if (!graph.is_collective_start(n)) continue;
    ASSERT_LT(next, indices.size());
    ASSERT_EQ(indices[next].get<std::size_t>(), i);
    const std::int64_t bytes = torch_collective_bytes(graph, n);
    EXPECT_EQ(reference["collective_bytes"][next].get<std::int64_t>(), bytes);
    EXPECT_EQ(reference["collective_group_size"][next].get<std::int64_t>(), graph.group_size(n));
    for (const auto& [key, gpu] : {std::pair{"collective_ms_hopper", NcclGpu::hopper},
                                   std::pair{"collective_ms_ampere", NcclGpu::ampere}}) {
      const double expected = reference[key][next].get<double>();
      const auto ms = torch_nccl_ms(bytes, graph.group_size(n), graph.op(n).collective, gpu);
      ASSERT_TRUE(ms.has_value());
      EXPECT_NEAR(*ms, expected, 1e-9 * std::fabs(expected));
    }
    ++next;
  }
  EXPECT_EQ(next, indices.size());
}

INSTANTIATE_TEST_SUITE_P(Shared, TorchReference, testing::ValuesIn(referenced_graphs()),
                         parameter_name<testing::TestParamInfo<std::string>>);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TorchReference);

TEST(TorchNccl, EqualsTheGoldenTable) {
  JOINTER_NEEDS_SHARED();
  const auto golden = load_json(shared_directory() + "/reference/nccl_golden.json");
  const std::map<std::string, NcclGpu> gpus{{"volta", NcclGpu::volta},
                                            {"ampere", NcclGpu::ampere},
                                            {"hopper", NcclGpu::hopper},
                                            {"blackwell", NcclGpu::blackwell}};
  const std::map<std::string, CollectiveKind> kinds{
      {"all_reduce", CollectiveKind::all_reduce},
      {"all_gather", CollectiveKind::all_gather},
      {"reduce_scatter", CollectiveKind::reduce_scatter},
      {"all_to_all", CollectiveKind::all_to_all}};
  std::size_t rows = 0;
  for (const auto& row : golden["rows"]) {
    const auto ms = torch_nccl_ms(
        row["bytes"].get<std::int64_t>(), row["ranks"].get<std::int64_t>(),
        kinds.at(row["collective"].get<std::string>()), gpus.at(row["gpu"].get<std::string>()));
    ASSERT_TRUE(ms.has_value());
    const double expected = row["ms"].get<double>();
    EXPECT_NEAR(*ms, expected, 1e-9 * std::fabs(expected)) << row.dump();
    ++rows;
  }
  EXPECT_GT(rows, 500U);
}

}  // namespace
}  // namespace jointer::test
