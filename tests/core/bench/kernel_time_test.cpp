#include "core/bench/kernel_time.h"

#include <gtest/gtest.h>

#include <vector>

namespace jointer::test {
namespace {

std::int64_t busy(const std::vector<std::pair<std::int64_t, std::int64_t>>& spans) {
  std::vector<MeasuredKernel> kernels;
  for (const auto& [start, end] : spans) kernels.push_back({.start_ns = start, .end_ns = end});
  return busy_ns(kernels);
}

TEST(KernelTime, CountsOverlappingKernelsOnce) {
  EXPECT_EQ(busy({}), 0);
  EXPECT_EQ(busy({{0, 10}, {20, 25}}), 15);
  EXPECT_EQ(busy({{0, 10}, {5, 15}}), 15);
  EXPECT_EQ(busy({{0, 100}, {10, 20}, {90, 110}}), 110) << "a long one contains the next";
}

TEST(KernelTime, AnIdleGpuWaitsForLaunches) {
  EXPECT_TRUE(is_bound_by_launches(40, 100));
  EXPECT_FALSE(is_bound_by_launches(95, 100));
  EXPECT_FALSE(is_bound_by_launches(0, 0)) << "nothing was measured";
}

}  // namespace
}  // namespace jointer::test
