// A GPU within a machine that files and a library in place of NVIDIA's describe.

#include "app/runner/gpu/gpu_surroundings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/runner/gpu/pinning.h"
#include "core/base/environment.h"
#include "tests/runner/fake_device/graphs.h"
#include "tests/runner/fake_device/rank.h"
#include "tests/support/temporary_folder.h"

namespace jointer::test {
namespace {

using runner::choose_pinning;
using runner::cpus_near;
using runner::describe_links;
using runner::GpuSurroundings;
using runner::numa_node_of;
using runner::NumberedGpu;
using runner::Nvml;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::vector<NumberedGpu> kGpusOfMachine{
    {0, "0000:0A:00.0"}, {1, "0000:0B:00.0"}, {2, "0000:3A:00.0"}, {3, "0000:8A:00.0"}};

std::vector<NumberedGpu> all_but(int number) {
  std::vector<NumberedGpu> others = kGpusOfMachine;
  others.erase(others.begin() + number);
  return others;
}

class Machine : public testing::Test {
 protected:
  void TearDown() override { ::unsetenv("FAKE_NVML"); }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
  }
  void set_node(const std::string& device, int node) const {
    write("sys/bus/pci/devices/" + device + "/numa_node", std::to_string(node));
  }
  void set_cpus(int node, const std::string& cpus) const {
    write("sys/devices/system/node/node" + std::to_string(node) + "/cpulist", cpus);
  }
  void set_online(const std::string& cpus) const { write("sys/devices/system/cpu/online", cpus); }
  [[nodiscard]] std::string root() const { return folder_.path().string(); }
  static std::shared_ptr<const Nvml> nvml(const char* settings = "") {
    ::setenv("FAKE_NVML", settings, 1);
    return Nvml::load(sibling_program("fake_nvml.so"));
  }
  // GPU 0 on this machine.
  [[nodiscard]] runner::SurroundingsOptions options() const {
    return {.gpu = kGpusOfMachine[0],
            .others = all_but(0),
            .nvml = sibling_program("fake_nvml.so"),
            .root = root()};
  }

  TemporaryFolder folder_;
};

TEST_F(Machine, LinksAreGroupedByKind) {
  EXPECT_THAT(describe_links(*nvml(), kGpusOfMachine[0], all_but(0)),
              ElementsAre("NVLink to GPU 1", "PCIe through the host bridge to GPU 2",
                          "PCIe through the link between NUMA nodes to GPU 3",
                          "NVLink: 18 of 18 links are active"));
  EXPECT_THAT(describe_links(*nvml(), kGpusOfMachine[3], all_but(3)),
              ElementsAre("PCIe through the link between NUMA nodes to GPUs 0, 1, 2"));
  EXPECT_THAT(describe_links(*nvml("links=17"), kGpusOfMachine[0], {}),
              ElementsAre("NVLink: 17 of 18 links are active"));
  EXPECT_THAT(describe_links(*nvml(), {7, "0000:FF:00.0"}, all_but(0)), IsEmpty());
}

TEST_F(Machine, TheNumaNodeIsReadFromLinux) {
  set_node("0000:3a:00.0", 1);
  set_node("0000:8a:00.0", -1);
  EXPECT_EQ(numa_node_of("0000:3A:00.0", root()), 1);
  EXPECT_EQ(numa_node_of("00000000:3A:00.0", root()), 1);  // as NVML writes it
  EXPECT_FALSE(numa_node_of("0000:8A:00.0", root()));
  EXPECT_FALSE(numa_node_of("0000:0A:00.0", root()));
}

TEST_F(Machine, TheNearestCpusAreThoseOfTheNumaNode) {
  set_node("0000:3a:00.0", 1);
  set_cpus(1, "4-5,12");
  EXPECT_EQ(cpus_near("0000:3A:00.0", nullptr, root()), (Cpus{4, 5, 12}));
  // Without a node, NVML names the CPUs.
  EXPECT_EQ(cpus_near("0000:8A:00.0", nvml().get(), root()), (Cpus{2, 3}));
  EXPECT_THAT(cpus_near("0000:8A:00.0", nvml("without=1").get(), root()), IsEmpty());
  EXPECT_THAT(cpus_near("0000:8A:00.0", nullptr, root()), IsEmpty());
}

TEST(Pinning, ARankRunsOnTheNearestCpus) {
  const auto choice = choose_pinning({2, 3}, {0, 1, 2, 3}, {0, 1, 2, 3});
  EXPECT_EQ(choice.cpus, (Cpus{2, 3}));
  EXPECT_THAT(choice.note, HasSubstr("on the CPUs nearest to its GPU, 2-3; --no-pinning"));
  // CPUs of the node that are offline are left out.
  EXPECT_EQ(choose_pinning({2, 3}, {0, 1, 2}, {0, 1, 2}).cpus, Cpus{2});
}

TEST(Pinning, AProcessThatIsAlreadyRestrictedIsLeftAlone) {
  const auto choice = choose_pinning({2, 3}, {0, 2}, {0, 1, 2, 3});
  EXPECT_THAT(choice.cpus, IsEmpty());
  EXPECT_EQ(choice.note, "");
  EXPECT_EQ(choice.fact, "not pinned: this process may use only CPUs 0,2");
}

TEST(Pinning, NothingIsDoneIfAllCpusAreNearOrNothingIsKnown) {
  const Cpus all{0, 1};
  for (const auto& choice : {choose_pinning(all, all, all), choose_pinning({}, all, all),
                             choose_pinning({0}, all, {}), choose_pinning({0}, {}, all)}) {
    EXPECT_THAT(choice.cpus, IsEmpty());
    EXPECT_EQ(choice.note + choice.fact, "");
  }
}

// The machine has only the CPUs that this process may use, so that it is not restricted.
class PinnedMachine : public Machine {
 protected:
  void SetUp() override {
    if (before_.size() < 2) GTEST_SKIP() << "needs two CPUs";
    set_node("0000:0a:00.0", 1);
    set_cpus(1, to_text(last_));
    set_online(to_text(before_));
  }
  void TearDown() override {
    restrict_threads(before_);
    Machine::TearDown();
  }

  const Cpus before_ = allowed_cpus();
  const Cpus last_{before_.back()};
};

TEST_F(PinnedMachine, ThreadsRunOnTheCpusNearTheGpu) {
  const GpuSurroundings surroundings(options());
  EXPECT_EQ(allowed_cpus(), last_);
  EXPECT_EQ(surroundings.pinned_cpus(), 1);
  EXPECT_THAT(surroundings.notes(), ElementsAre(StartsWith("the rank's threads run on the CPUs")));
  EXPECT_THAT(surroundings.facts(),
              ElementsAre("driver 580.65.06", "GPU 0 at 0000:0A:00.0, NUMA node 1",
                          "NVLink to GPU 1", "PCIe through the host bridge to GPU 2",
                          "PCIe through the link between NUMA nodes to GPU 3",
                          "NVLink: 18 of 18 links are active"));
}

TEST_F(PinnedMachine, AnOptionTurnsItOff) {
  runner::SurroundingsOptions unpinned = options();
  unpinned.pins = false;
  const GpuSurroundings surroundings(unpinned);
  EXPECT_EQ(allowed_cpus(), before_);
  EXPECT_EQ(surroundings.pinned_cpus(), 0);
  EXPECT_THAT(surroundings.notes(), IsEmpty());
}

TEST_F(PinnedMachine, ARestrictedProcessIsNotPinned) {
  set_online(to_text(before_) + ",8191");
  const GpuSurroundings surroundings(options());
  EXPECT_EQ(allowed_cpus(), before_);
  EXPECT_THAT(surroundings.facts(), Contains(StartsWith("not pinned: this process may use only")));
}

TEST_F(PinnedMachine, AMissingLibraryIsANote) {
  runner::SurroundingsOptions without = options();
  without.nvml = "libno-such-nvml.so.1";
  const GpuSurroundings surroundings(without);
  EXPECT_THAT(surroundings.notes(),
              ElementsAre(StartsWith("NVML (libno-such-nvml.so.1) is missing or does not work: "),
                          StartsWith("the rank's threads run on the CPUs")));
  EXPECT_THAT(surroundings.facts(), ElementsAre("GPU 0 at 0000:0A:00.0, NUMA node 1"));
  EXPECT_FALSE(surroundings.monitor().read());
  write("sys/module/nvidia/version", "575.57.08");
  EXPECT_THAT(GpuSurroundings(without).facts(), Contains("driver 575.57.08"));
}

TEST_F(Machine, WhatNvmlDoesNotReportIsAFact) {
  nvml("without=1");  // sets the variable
  const GpuSurroundings surroundings(options());
  EXPECT_THAT(surroundings.facts(), Contains("NVML does not report: power, memory errors (ECC)"));
}

// --- Whole runs of a rank ---

TEST_F(PinnedMachine, AResultHasTheLinksAndTheStateOfItsGpu) {
  const RankRun run = run_on_fake_device(
      {.graph = kShardedStep, .device = {.surroundings = options()}, .nvml = "mig=1"});
  ASSERT_EQ(run.rank.status, RankResult::Status::done) << run.failure();
  EXPECT_THAT(run.rank.started->environment,
              testing::IsSupersetOf({"GPU 0 at 0000:0A:00.0, NUMA node 1", "NVLink to GPU 1"}));
  EXPECT_THAT(run.rank.notes, Contains(StartsWith("the rank's threads run on the CPUs")));
  ASSERT_TRUE(run.rank.measured && run.rank.measured->gpu);
  EXPECT_EQ(run.rank.measured->gpu->sm_mhz, 1410);
  EXPECT_TRUE(run.rank.measured->gpu->mig);
  EXPECT_EQ(run.rank.measured->gpu->other_bytes, 0);
  // The process has 19 GiB, of which the allocator has reserved a few MiB.
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  EXPECT_LT(run.rank.measured->outside_bytes, 19 * 1024 * kMiB);
  EXPECT_GT(run.rank.measured->outside_bytes, (19 * 1024 - 256) * kMiB);
  const RankRun unpinned = run_on_fake_device(
      {.graph = kShardedStep, .options = {"--no-pinning"}, .device = {.surroundings = options()}});
  ASSERT_EQ(unpinned.rank.status, RankResult::Status::done) << unpinned.failure();
  EXPECT_THAT(unpinned.rank.notes, Not(Contains(StartsWith("the rank's threads"))));
}

TEST_F(Machine, AResultDoubtsFiguresOfAGpuThatIsFaultyOrShared) {
  const RankRun run = run_on_fake_device(
      {.graph = kShardedStep, .device = {.surroundings = options()}, .nvml = "ecc=2,others=1"});
  ASSERT_EQ(run.rank.status, RankResult::Status::done) << run.failure();
  EXPECT_THAT(run.rank.notes,
              testing::IsSupersetOf({HasSubstr("2 memory errors that ECC could not correct"),
                                     HasSubstr("1 other process is using the GPU")}));
}

}  // namespace
}  // namespace jointer::test
