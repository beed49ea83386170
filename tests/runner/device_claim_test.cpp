#include "app/runner/device_claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

namespace jointer::runner {
namespace {

using testing::HasSubstr;

// A name that other test processes do not use.
std::string some_gpu() {
  return "GPU of test " + std::to_string(::getpid());
}

TEST(DeviceClaim, AnExclusiveGpuIsForOneRank) {
  auto first = claim_device(some_gpu(), ComputeMode::exclusive);
  ASSERT_TRUE(first) << first.error().message;
  for (const ComputeMode mode : {ComputeMode::exclusive, ComputeMode::exclusive_thread}) {
    const auto second = claim_device(some_gpu(), mode);
    ASSERT_FALSE(second);
    EXPECT_EQ(
        second.error().message,
        "another rank uses " + some_gpu() +
            ", which is in exclusive compute mode, so only one process at a time can use it; "
            "give each rank its own GPU (with Slurm: --gpus-per-task=1), or run one rank with "
            "--solo RANK");
  }
  EXPECT_TRUE(claim_device(some_gpu() + " too", ComputeMode::exclusive));
  first->close();
  EXPECT_TRUE(claim_device(some_gpu(), ComputeMode::exclusive));
}

TEST(DeviceClaim, RanksMayShareOtherGpus) {
  const auto first = claim_device(some_gpu(), ComputeMode::shared);
  const auto second = claim_device(some_gpu(), ComputeMode::shared);
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST(DeviceClaim, AProhibitedGpuIsForNoRank) {
  const auto claim = claim_device(some_gpu(), ComputeMode::prohibited);
  ASSERT_FALSE(claim);
  EXPECT_THAT(claim.error().message, HasSubstr("prohibited compute mode"));
}

}  // namespace
}  // namespace jointer::runner
