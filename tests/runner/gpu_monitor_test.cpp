// The state of a GPU, read from a library in place of NVIDIA's (fake_device/nvml.cpp).

#include "app/runner/gpu/gpu_monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "core/base/environment.h"

namespace jointer::test {
namespace {

using runner::GpuMonitor;
using runner::Nvml;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kGiB = std::int64_t{1} << 30, kMiB = std::int64_t{1} << 20;

class Monitored : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("FAKE_NVML"); }
  static std::shared_ptr<const Nvml> nvml(const char* settings) {
    ::setenv("FAKE_NVML", settings, 1);
    return Nvml::load(sibling_program("fake_nvml.so"));
  }
  static GpuState state(const char* settings) {
    const auto state = GpuMonitor(nvml(settings), "0000:0A:00.0").read();
    EXPECT_TRUE(state);
    return state.value_or(GpuState{});
  }
  static std::vector<std::string> unreported(const char* settings) {
    return GpuMonitor(nvml(settings), "0000:0A:00.0").unreported();
  }
};

TEST_F(Monitored, ReportsClocksPowerTemperatureAndMemory) {
  const GpuState gpu = state("");
  EXPECT_EQ(gpu.sm_mhz, 1410);
  EXPECT_EQ(gpu.max_sm_mhz, 1980);
  EXPECT_EQ(gpu.memory_mhz, 2619);
  EXPECT_EQ(gpu.milliwatts, 512'000);
  EXPECT_EQ(gpu.celsius, 54);
  EXPECT_EQ(gpu.used_bytes, 20 * kGiB);
  EXPECT_THAT(gpu.slowdowns, ElementsAre("power limit"));
  EXPECT_EQ(gpu.uncorrected_ecc_errors, 0);
  EXPECT_FALSE(gpu.mig);
  EXPECT_EQ(gpu.other_processes, 0);
  EXPECT_EQ(gpu.other_bytes, 0);
  EXPECT_EQ(gpu.own_bytes, 19 * kGiB);
  EXPECT_THAT(unreported(""), IsEmpty());
}

TEST_F(Monitored, ReportsMemoryErrorsAndMig) {
  const GpuState gpu = state("ecc=2,mig=1");
  EXPECT_EQ(gpu.uncorrected_ecc_errors, 2);
  EXPECT_TRUE(gpu.mig);
}

TEST_F(Monitored, SeparatesOtherProcessesFromThisOne) {
  GpuState gpu = state("others=2");
  EXPECT_EQ(gpu.other_processes, 2);
  EXPECT_EQ(gpu.other_bytes, 2 * kGiB);
  gpu = state("others=2,draws=1");  // one that draws does not compute
  EXPECT_EQ(gpu.other_processes, 2);
  EXPECT_EQ(gpu.other_bytes, 2 * kGiB + 100 * kMiB);
  gpu = state("others=200");  // more than there is room for at first
  EXPECT_EQ(gpu.other_processes, 200);
  EXPECT_EQ(gpu.other_bytes, 200 * kGiB);
}

// Processes on other instances use other memory.
TEST_F(Monitored, CountsOnlyProcessesOnItsOwnMigInstance) {
  const GpuState gpu = state("mig=1,others=3");
  EXPECT_EQ(gpu.other_processes, 2);
  EXPECT_EQ(gpu.other_bytes, 2 * kGiB);
}

TEST_F(Monitored, MemoryThatIsNotReportedIsUnknown) {
  for (const char* settings : {"others=2,hidden=1", "others=2,own=0"})
    EXPECT_FALSE(state(settings).other_bytes || state(settings).own_bytes) << settings;
  EXPECT_THAT(unreported("others=2,own=0"), ElementsAre("memory of other processes"));
  EXPECT_EQ(state("others=2,own=0").other_processes, 0);
}

TEST_F(Monitored, UnsupportedCallsAreNamed) {
  const GpuState gpu = state("without=1");
  EXPECT_EQ(gpu.milliwatts, 0);
  EXPECT_EQ(gpu.celsius, 54);
  EXPECT_THAT(unreported("without=1"), ElementsAre("power", "memory errors (ECC)"));
}

TEST_F(Monitored, NothingIsReportedWithoutALibraryADriverOrTheGpu) {
  EXPECT_EQ(Nvml::load("libno-such-nvml.so.1"), nullptr);
  EXPECT_EQ(nvml("init=9"), nullptr);
  EXPECT_FALSE(GpuMonitor(nullptr, "0000:0A:00.0").read());
  EXPECT_FALSE(GpuMonitor(nvml(""), "0000:FF:00.0").read());
  EXPECT_THAT(GpuMonitor(nvml(""), "0000:FF:00.0").unreported(), IsEmpty());
}

// A library without a function, as an old driver's, does not report its value.
TEST_F(Monitored, AMissingFunctionIsNotCalled) {
  const auto library = nvml("");
  EXPECT_EQ(library->call("nvmlNoSuchFunction"), Nvml::function_not_found);
  EXPECT_FALSE(library->number("nvmlNoSuchFunction", library->find("0000:0A:00.0")));
}

}  // namespace
}  // namespace jointer::test
