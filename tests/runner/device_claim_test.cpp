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
        "another benchmark or rank uses " + some_gpu() +
            ", which is in exclusive compute mode, so only one process at a time can use it; wait "
            "for the other benchmark, give each rank its own GPU (with Slurm: --gpus-per-task=1), "
            "or run one rank with --solo RANK");
  }
  EXPECT_TRUE(claim_device(some_gpu() + " too", ComputeMode::exclusive));
  first->close();
  EXPECT_TRUE(claim_device(some_gpu(), ComputeMode::exclusive));
}

// CUDA_VISIBLE_DEVICES can list many parts of a GPU; the number of the device follows it.
TEST(DeviceClaim, LongNamesThatDifferOnlyAtTheirEndAreOtherGpus) {
  const std::string parts = some_gpu() + " (" + std::string(300, 'M') + ", device ";
  const auto first = claim_device(parts + "0)", ComputeMode::exclusive);
  const auto second = claim_device(parts + "1)", ComputeMode::exclusive);
  ASSERT_TRUE(first) << first.error().message;
  ASSERT_TRUE(second) << second.error().message;
  EXPECT_TRUE(*first);
  EXPECT_TRUE(*second);
  const auto again = claim_device(parts + "0)", ComputeMode::exclusive);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr(parts + "0)"));
}

TEST(DeviceClaim, TheLongestNameThatIsNotHashedIsClaimed) {
  for (const std::size_t bytes : {94U, 95U, 96U}) {  // "jointer-gpu-" has 12 more, of 107
    std::string name = some_gpu();
    name.resize(bytes, '.');
    const auto first = claim_device(name, ComputeMode::exclusive);
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_TRUE(*first);
    EXPECT_FALSE(claim_device(name, ComputeMode::exclusive)) << bytes;
  }
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
