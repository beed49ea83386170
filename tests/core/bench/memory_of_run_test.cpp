#include "core/bench/memory_of_run.h"

#include <gtest/gtest.h>

namespace jointer::test {
namespace {

TEST(MemoryOfRun, FollowsFromTheRequestAndTheDevice) {
  BenchmarkRequest request;
  EXPECT_EQ(memory_of_run(request, DeviceType::cpu).collectives, CollectiveLibrary::gloo);
  EXPECT_EQ(memory_of_run(request, DeviceType::cuda).collectives, CollectiveLibrary::none);
  request.solo = 2;
  EXPECT_EQ(memory_of_run(request, DeviceType::cpu).collectives, CollectiveLibrary::none);
  EXPECT_EQ(memory_of_run(request, DeviceType::cuda).runs_on, DeviceType::cuda);
  EXPECT_EQ(memory_of_run(request, DeviceType::cuda).optimizer, OptimizerState::none);
}

TEST(MemoryOfRun, TheFirstRankThatStartedNamesTheDevice) {
  BenchmarkResult result;
  EXPECT_FALSE(device_that_ran(result));
  result.ranks.resize(2);
  EXPECT_FALSE(device_that_ran(result));
  result.ranks[1].apply(RankStarted{1, 2, 100, "A CPU, 2 threads", "cpu", ""});
  EXPECT_EQ(device_that_ran(result), DeviceType::cpu);
}

}  // namespace
}  // namespace jointer::test
