#include "core/cost/cpu_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "core/base/bytes.h"
#include "core/base/environment.h"
#include "core/cost/estimator.h"
#include "tests/support/graphs.h"
#include "tests/support/must.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

ProbedRank rank_of(int threads, bool shares) {
  ProbedRank rank{.threads = threads,
                  .shares_machine = shares,
                  .float32_tflops = 0.1 * threads,
                  .bfloat16_tflops = 0.2 * threads,
                  .memory_gbps = 10.0 * threads,
                  .operator_us = 0.5,
                  .link_gbps = shares ? 2.0 : 0.0,
                  .collective_us = shares ? 100.0 : 0.0};
  rank.kernels = {.launch_us = 2, .product_us = 5, .strided = 0.5, .levels = {{1000, 50}}};
  return rank;
}

CpuProbe probe_of_this_machine() {
  return {.processor = processor_name(),
          .cores = usable_cores(),
          .cache_bytes = {32768, 1 << 20},
          .ranks = {rank_of(4, false), rank_of(2, true)}};
}

class CpuProbeFile : public testing::Test {
 protected:
  void SetUp() override {
    before_ = environment_variable("JOINTER_CPU");
    ::setenv("JOINTER_CPU", path().c_str(), 1);
  }
  void TearDown() override {
    if (before_.empty())
      ::unsetenv("JOINTER_CPU");
    else
      ::setenv("JOINTER_CPU", before_.c_str(), 1);
  }
  [[nodiscard]] std::string path() const { return folder_ / "data/cpu.json"; }
  void write(const CpuProbe& probe) const {
    const auto written = write_cpu_probe(path(), probe);
    ASSERT_TRUE(written) << written.error().message;
  }

 private:
  TemporaryFolder folder_;
  std::string before_;
};

TEST_F(CpuProbeFile, IsReadAsItWasWritten) {
  EXPECT_EQ(cpu_probe_path(), path());
  EXPECT_FALSE(must(read_cpu_probe(path()))) << "there is no file";
  const CpuProbe written = probe_of_this_machine();
  write(written);
  const auto read = must(read_cpu_probe(path()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->processor, written.processor);
  EXPECT_EQ(read->cores, written.cores);
  EXPECT_EQ(read->cache_bytes, written.cache_bytes);
  ASSERT_EQ(read->ranks.size(), 2U);
  EXPECT_EQ(read->ranks[1].threads, 2);
  EXPECT_TRUE(read->ranks[1].shares_machine);
  EXPECT_EQ(read->ranks[1].kernels, written.ranks[1].kernels);
  EXPECT_EQ(read->ranks[1].link_gbps, 2);
}

TEST_F(CpuProbeFile, OfAnotherMachineIsNotUsed) {
  CpuProbe probe = probe_of_this_machine();
  probe.processor = "another";
  write(probe);
  EXPECT_FALSE(must(read_cpu_probe(path())));
  probe = probe_of_this_machine();
  ++probe.cores;
  write(probe);
  EXPECT_FALSE(must(read_cpu_probe(path())));
}

TEST_F(CpuProbeFile, IsRefusedIfItIsDamaged) {
  write(probe_of_this_machine());
  for (const char* text : {"{", "{}", R"({"processor":"x","cores":1,"ranks":[]})"}) {
    ASSERT_TRUE(write_bytes(path(), text));
    const auto read = read_cpu_probe(path());
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().kind, Error::Kind::input);
    EXPECT_THAT(read.error().message, testing::HasSubstr(path()));
  }
  const std::function<void(ProbedRank&)> damages[] = {
      [](ProbedRank& rank) { rank.float32_tflops = 0; },
      [](ProbedRank& rank) { rank.link_gbps = -1; },
      [](ProbedRank& rank) { rank.collective_us = -1; },
      [](ProbedRank& rank) { rank.kernels.coalesced = 0; },
      [](ProbedRank& rank) { rank.kernels.tiles = {{.rows = 0, .columns = 1, .share = 1}}; },
      [](ProbedRank& rank) { rank.kernels.special_gops = -1; },
      [](ProbedRank& rank) { rank.kernels.launch_us = 1e18; }};
  for (const auto& damage : damages) {
    CpuProbe probe = probe_of_this_machine();
    damage(probe.ranks[1]);
    write(probe);
    const auto read = read_cpu_probe(path());
    ASSERT_FALSE(read.has_value());
    EXPECT_THAT(read.error().message, testing::HasSubstr("the rates of the CPU are damaged"));
    EXPECT_FALSE(load_device("cpu").has_value());
  }
}

TEST_F(CpuProbeFile, ReplacesTheRatesOfTheCpu) {
  const std::string generic = must(load_device("cpu")).name;
  write(probe_of_this_machine());
  const DeviceDescription all = must(load_device("cpu"));
  EXPECT_NE(all.name, generic);
  EXPECT_THAT(all.name, testing::HasSubstr("probed"));
  ASSERT_TRUE(all.kernels);
  EXPECT_EQ(must(load_device("cpu{cores=2}")).kernels, std::nullopt) << "a generic CPU";
  const auto estimator = must(make_estimator({.name = "roofline", .device = "cpu"}));
  EXPECT_THAT(estimator->description(), testing::StartsWith("kernels, "));
  EXPECT_TRUE(make_estimator({.name = "kernels", .device = "cpu"}).has_value());
  for (const char* wrong : {"cpu{threads=1}", "cpu{threads=0,ranks=1}", "cpu{threads=1,ranks=x}",
                            "cpu{threads=1,ranks=}"})
    EXPECT_FALSE(load_device(wrong)) << wrong;
  EXPECT_TRUE(load_device(cpu_of_rank_text(1, 2)).has_value());
}

TEST_F(CpuProbeFile, AGenericCpuIsNotTheOneThatIsProbed) {
  write(probe_of_this_machine());
  const auto estimator = make_estimator({.name = "kernels", .device = "cpu{cores=4}"});
  ASSERT_FALSE(estimator.has_value());
  EXPECT_THAT(estimator.error().message, testing::HasSubstr("for --device cpu"));
}

TEST_F(CpuProbeFile, CallsOnACpuRunOneAfterTheOther) {
  write(probe_of_this_machine());
  const Graph graph = parse(R"(
    device cpu
    x: f32[16] = input
    v: f32[4,4] = aten.view(x, [4, 4])
    y: f32[4,4] = aten.add.Tensor(v, v)
    return [y]
  )");
  const auto estimator = must(make_estimator({.device = "cpu"}));
  const NodeCost view = estimator->estimate(graph, graph.find("v"));
  EXPECT_EQ(view.lane, NodeCost::Lane::compute);
  EXPECT_EQ(view.ns, 500);
  EXPECT_EQ(view.host_ns, 0);
  const NodeCost add = estimator->estimate(graph, graph.find("y"));
  EXPECT_EQ(add.host_ns, 0);
  EXPECT_GE(add.ns, 2000);
}

DeviceDescription probed(int threads, int ranks, int cores = 4) {
  CpuProbe probe = probe_of_this_machine();
  probe.cores = cores;
  return probed_cpu(probe, must(load_device("cpu{cores=1}")), threads, ranks);
}

TEST(CpuProbe, RatesAreInProportionToThreads) {
  const DeviceDescription alone = probed(4, 1), shared = probed(2, 2), few = probed(1, 2);
  EXPECT_DOUBLE_EQ(alone.peak_flops(DType::float32), 0.4e12);
  EXPECT_DOUBLE_EQ(alone.peak_flops(DType::bfloat16), 0.8e12);
  EXPECT_DOUBLE_EQ(shared.peak_flops(DType::float32), 0.2e12);
  EXPECT_DOUBLE_EQ(few.peak_flops(DType::float32), 0.1e12);
  EXPECT_DOUBLE_EQ(few.memory_gbps, 10);
  EXPECT_DOUBLE_EQ(few.kernels->levels.front().gbps, 25);
  EXPECT_DOUBLE_EQ(few.kernels->launch_us, 2) << "the time of a call does not depend on threads";
  EXPECT_DOUBLE_EQ(few.links.intra_gbps, 2);
  EXPECT_DOUBLE_EQ(few.links.base_us + few.links.intra_step_us, 100) << "of two ranks";
}

TEST(CpuProbe, RanksShareCores) {
  const DeviceDescription two = probed(2, 2), eight = probed(2, 8);
  EXPECT_DOUBLE_EQ(eight.peak_flops(DType::float32), two.peak_flops(DType::float32) / 4);
  EXPECT_DOUBLE_EQ(eight.kernels->launch_us, 4 * two.kernels->launch_us);
  EXPECT_DOUBLE_EQ(eight.host.operator_us, 4 * two.host.operator_us);
}

TEST(CacheSizes, AreReadFromLinux) {
  const TemporaryFolder root;
  EXPECT_TRUE(cache_sizes(root.path().string()).empty());
  const auto folder = root.path() / "sys/devices/system/cpu/cpu0/cache";
  const char* caches[][2] = {
      {"Data", "48K"}, {"Instruction", "32K"}, {"Unified", "1024K"}, {"Unified", "32M"}};
  for (int i = 0; i < 4; ++i) {
    const auto cache = folder / ("index" + std::to_string(i));
    std::filesystem::create_directories(cache);
    std::ofstream(cache / "type") << caches[i][0] << '\n';
    std::ofstream(cache / "size") << caches[i][1] << '\n';
  }
  EXPECT_EQ(cache_sizes(root.path().string()),
            (std::vector<std::int64_t>{48 << 10, 1 << 20, 32 << 20}));
}

}  // namespace
}  // namespace jointer::test
