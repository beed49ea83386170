#include "core/base/checked.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace jointer {
namespace {

__extension__ using Wide = __int128;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

bool fits(Wide value) {
  return value >= kMin && value <= kMax;
}

// Small numbers, large numbers, and the limits.
std::int64_t number() {
  return *rc::gen::oneOf(
      rc::gen::arbitrary<std::int64_t>(), rc::gen::inRange<std::int64_t>(-3, 4),
      rc::gen::element(kMax, kMax - 1, kMin, kMin + 1, kMax / 2, std::int64_t{1} << 32,
                       -(std::int64_t{1} << 31)),
      rc::gen::map(rc::gen::inRange(0, 63), [](int bit) { return std::int64_t{1} << bit; }));
}

RC_GTEST_PROP(Checked, AgreesWithWideArithmetic, ()) {
  const std::int64_t a = number(), b = number();
  const auto agrees = [](std::optional<std::int64_t> result, Wide exact) {
    return result ? Wide{*result} == exact : !fits(exact);
  };
  RC_ASSERT(agrees(checked_add(a, b), Wide{a} + b));
  RC_ASSERT(agrees(checked_sub(a, b), Wide{a} - b));
  RC_ASSERT(agrees(checked_mul(a, b), Wide{a} * b));
}

RC_GTEST_PROP(Checked, SaturatesAtTheNearestEnd, ()) {
  const std::int64_t a = number(), b = number();
  const auto clamped = [](Wide exact) {
    return fits(exact) ? static_cast<std::int64_t>(exact) : exact < 0 ? kMin : kMax;
  };
  RC_ASSERT(saturating_add(a, b) == clamped(Wide{a} + b));
  RC_ASSERT(saturating_mul(a, b) == clamped(Wide{a} * b));
}

TEST(Checked, SaturatesToTheNearestInteger) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(saturating_whole(2.9), 2);
  EXPECT_EQ(saturating_whole(-2.9), -2);
  EXPECT_EQ(saturating_round(2.5), 3);
  for (const double large : {9223372036854775808.0, 1e19, 1e300, kInfinity}) {
    EXPECT_EQ(saturating_whole(large), kMax) << large;
    EXPECT_EQ(saturating_round(large), kMax) << large;
    EXPECT_EQ(saturating_whole(-large), kMin) << large;
  }
  EXPECT_EQ(saturating_whole(9223372036854774784.0), 9223372036854774784);
  EXPECT_EQ(saturating_whole(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace jointer
