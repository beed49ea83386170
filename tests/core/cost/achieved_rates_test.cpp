// Rates of measured calls, compared with values computed by hand.

#include "core/cost/achieved_rates.h"

#include <gtest/gtest.h>

#include "core/cost/gpu_properties.h"
#include "tests/support/graphs.h"

namespace jointer::test {
namespace {

constexpr std::string_view kRatesGraph = R"(
  group tp: 0 1 2 3
  x: bf16[1024,1024] = input
  w: bf16[1024,1024] = parameter
  mm: bf16[1024,1024] = aten.mm(x, w)
  r: bf16[1024,1024] = aten.relu(mm)
  v: bf16[1024,1024] = aten.view(r, [1024, 1024])
  ar: bf16[1024,1024] = _c10d_functional.all_reduce(v, 'sum', 'tp')
  wt: bf16[1024,1024] = _c10d_functional.wait_tensor(ar)
  ag: bf16[4096,1024] = _c10d_functional.all_gather_into_tensor(wt, 4, 'tp')
  wg: bf16[4096,1024] = _c10d_functional.wait_tensor(ag)
  return [wg]
)";

class AchievedRatesOf : public testing::Test {
 protected:
  [[nodiscard]] AchievedRates rates(const char* name, std::int64_t ns,
                                    const DeviceDescription* device = nullptr,
                                    std::int64_t gpus_per_node = 8) const {
    return achieved_rates(graph, node(graph, name), ns, device, gpus_per_node);
  }
  Graph graph = parse(kRatesGraph);
  DeviceDescription h100 = *load_device("h100");
};

TEST_F(AchievedRatesOf, AMatrixProductHasFlopsAndBytes) {
  const AchievedRates mm = rates("mm", 10'000, &h100);
  const double flops = 2.0 * 1024 * 1024 * 1024 / 10e-6, bytes = 3.0 * 1024 * 1024 * 2 / 10e-6;
  EXPECT_DOUBLE_EQ(mm.flops, flops);
  EXPECT_DOUBLE_EQ(mm.flops_share, flops / 989.4e12);
  EXPECT_DOUBLE_EQ(mm.bytes, bytes);
  EXPECT_DOUBLE_EQ(mm.bytes_share, bytes / 3350e9);
  EXPECT_EQ(mm.bus, 0);
}

TEST_F(AchievedRatesOf, APointwiseCallHasBytesAlone) {
  const AchievedRates relu = rates("r", 1'000);
  EXPECT_EQ(relu.flops, 0);
  EXPECT_DOUBLE_EQ(relu.bytes, 2.0 * 1024 * 1024 * 2 / 1e-6);
  EXPECT_EQ(relu.bytes_share, 0) << "without a device, there is no peak";
}

TEST_F(AchievedRatesOf, ACollectiveHasBusBandwidthAsInNcclTests) {
  const double message = 1024.0 * 1024 * 2;
  const AchievedRates reduce = rates("ar", 100'000, &h100);
  EXPECT_DOUBLE_EQ(reduce.bus, message * 2 * 3 / 4 / 100e-6);
  EXPECT_DOUBLE_EQ(reduce.bus_share, reduce.bus / 450e9);
  EXPECT_DOUBLE_EQ(rates("ag", 100'000).bus, 4 * message * 3 / 4 / 100e-6) << "the gathered bytes";
  EXPECT_EQ(rates("ar", 100'000, &h100, 2).bus_share, 0) << "the group spans two nodes";
}

TEST_F(AchievedRatesOf, TheBusBandwidthNeedsTheNumberOfRanks) {
  const Graph unknown = parse(R"(
    x: f32[1024] = input
    ar: f32[1024] = _c10d_functional.all_reduce(x, 'sum', 'tp')
    return [ar]
  )");
  EXPECT_EQ(achieved_rates(unknown, node(unknown, "ar"), 100'000, &h100, 8), AchievedRates{});
}

TEST_F(AchievedRatesOf, NothingIsReachedWithoutATimeOrWork) {
  EXPECT_EQ(rates("mm", 0), AchievedRates{});
  EXPECT_EQ(rates("mm", -1), AchievedRates{});
  EXPECT_EQ(rates("v", 1'000), AchievedRates{});
  EXPECT_EQ(rates("wt", 1'000), AchievedRates{});
  EXPECT_EQ(rates_text({}), "");
}

TEST_F(AchievedRatesOf, AreWrittenWithTheirShares) {
  EXPECT_EQ(rates_text({.flops = 412e12, .flops_share = 0.417, .bytes = 1.2e12}),
            "412 TFLOP/s (41.7% of peak), 1,200 GB/s");
  EXPECT_EQ(rates_text({.bus = 300e9, .bus_share = 0.667}),
            "300 GB/s bus bandwidth (66.7% of peak)");
}

TEST(DescribesGpu, OnlyTheGpuOfThatName) {
  const DeviceDescription h100 = *load_device("h100");
  EXPECT_TRUE(describes_gpu(h100, "NVIDIA H100 80GB HBM3"));
  EXPECT_FALSE(describes_gpu(h100, "NVIDIA H200"));
  EXPECT_FALSE(describes_gpu(h100, "AMD EPYC 7763, 2 threads"));
  EXPECT_FALSE(describes_gpu(*load_device("cpu"), "AMD EPYC 7763, 2 threads"));
  const DeviceDescription l40s = describe_gpu({.name = "NVIDIA L40S",
                                               .major = 8,
                                               .minor = 9,
                                               .multiprocessors = 142,
                                               .sm_mhz = 2520,
                                               .memory_mhz = 9001,
                                               .memory_bus_bits = 384,
                                               .memory_bytes = 48'000'000'000});
  EXPECT_TRUE(describes_gpu(l40s, "NVIDIA L40S"));
  EXPECT_FALSE(describes_gpu(l40s, "NVIDIA L4"));
}

}  // namespace
}  // namespace jointer::test
