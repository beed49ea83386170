#include "core/base/number_range.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace jointer {
namespace {

void expect(std::int64_t begin, std::int64_t end, const char* first, const char* last) {
  const RangeText text = format_ns_range(begin, end);
  EXPECT_EQ(text.begin, first);
  EXPECT_EQ(text.end, last);
}

TEST(NumberRange, HasOneUnitAndThreeDigits) {
  expect(100'000, 24'600'000, "0.1 ms", "24.6 ms");
  expect(0, 4'200, "0 us", "4.20 us");
  expect(0, 0, "0 ns", "0 ns");
  expect(12, 700, "12 ns", "700 ns");
  expect(900'000'000, 1'500'000'000, "0.900 s", "1.500 s");
}

TEST(NumberRange, HasMoreDigitsIfTheEndsWouldLookTheSame) {
  expect(334'120'000, 334'151'000, "334.12 ms", "334.15 ms");
  expect(334'120'000, 334'120'001, "334.120000 ms", "334.120001 ms");
  expect(2'000'000'000, 2'000'400'000, "2.0000 s", "2.0004 s");
  expect(334'120'000, 334'120'000, "334 ms", "334 ms");
}

RC_GTEST_PROP(NumberRange, DifferentEndsLookDifferent, ()) {
  const auto begin = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 42);
  const auto length =
      *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << *rc::gen::inRange<std::int64_t>(1, 42));
  const RangeText text = format_ns_range(begin, begin + length);
  RC_ASSERT((text.begin == text.end) == (length == 0));
}

}  // namespace
}  // namespace jointer
