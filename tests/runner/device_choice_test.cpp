#include "app/runner/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jointer::runner {
namespace {

using testing::HasSubstr;

TEST(DeviceChoice, EachRankHasItsOwn) {
  EXPECT_EQ(*choose_device(0, 4, false), 0);
  EXPECT_EQ(*choose_device(3, 4, false), 3);
  EXPECT_EQ(*choose_device(3, 1, true), 0);  // the only one that the task sees
  EXPECT_EQ(*choose_device(1, 2, true), 1);
}

TEST(DeviceChoice, FewerDevicesThanRanksAreRefused) {
  const auto refused = choose_device(1, 1, false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(
      refused.error().message,
      "local rank 1 sees only 1 CUDA device, and each rank needs its own; --solo RANK runs one "
      "rank alone, and --on cpu needs no GPU");
}

TEST(DeviceChoice, AnUnusableDeviceNamesItsComputeMode) {
  const char* busy = "CUDA error: CUDA-capable device(s) is/are busy or unavailable";
  EXPECT_EQ(explain_unusable(busy, ComputeMode::shared), busy);
  EXPECT_THAT(explain_unusable(busy, ComputeMode::exclusive), HasSubstr("exclusive compute mode"));
  EXPECT_THAT(explain_unusable(busy, ComputeMode::prohibited),
              HasSubstr("prohibited compute mode"));
}

}  // namespace
}  // namespace jointer::runner
