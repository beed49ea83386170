#include "core/bench/drift.h"

#include <gtest/gtest.h>

#include <vector>

namespace jointer::test {
namespace {

std::optional<double> drift(const std::vector<std::int64_t>& step_ns) {
  return step_drift(step_ns);
}

TEST(Drift, ComparesTheLastQuarterWithTheFirst) {
  EXPECT_DOUBLE_EQ(*drift({100, 100, 105, 110, 115, 120, 120, 120}), 0.2);
  EXPECT_DOUBLE_EQ(*drift({200, 200, 1, 1, 1, 1, 100, 100}), -0.5);
}

TEST(Drift, OneSlowStepIsNoDrift) {
  std::vector<std::int64_t> steps(20, 100);
  steps.back() = 1'000;
  EXPECT_EQ(*drift(steps), 0);
  EXPECT_FALSE(is_significant_drift(*drift(steps)));
}

TEST(Drift, IsReportedFromFivePercentInEitherDirection) {
  EXPECT_TRUE(is_significant_drift(0.05));
  EXPECT_TRUE(is_significant_drift(-0.06));
  EXPECT_FALSE(is_significant_drift(0.04));
}

TEST(Drift, IsUnknownForFewSteps) {
  EXPECT_FALSE(drift({}));
  EXPECT_FALSE(drift({1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(drift({0, 0, 0, 0, 0, 0, 0, 0}));
}

}  // namespace
}  // namespace jointer::test
