#include "core/base/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "core/base/byte_units.h"

#include "core/base/distinct_bytes.h"

namespace jointer {
namespace {

TEST(Units, BytesHaveThreeSignificantDigitsAndBinaryUnits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(46'493'450'240), "43.3 GiB");
  EXPECT_EQ(format_bytes((std::int64_t{1} << 20) - 1), "1.00 MiB");
  EXPECT_EQ(format_bytes(-2048), "-2.00 KiB");
}

TEST(Units, ComparedBytesNeverLookTheSame) {
  using Texts = std::array<std::string, 2>;
  constexpr std::int64_t kSize = 46'493'450'240;  // 43.3 GiB
  EXPECT_EQ(distinct_bytes(std::array{kSize, kSize}), (Texts{"43.3 GiB", "43.3 GiB"}));
  EXPECT_EQ(distinct_bytes(std::array{kSize, kSize / 2}), (Texts{"43.3 GiB", "21.7 GiB"}));
  EXPECT_EQ(distinct_bytes(std::array{kSize, kSize + (3 << 20)}),
            (Texts{"43.300 GiB", "43.303 GiB"}));
  EXPECT_EQ(distinct_bytes(std::array{kSize, kSize + 1}),
            (Texts{"46,493,450,240 B", "46,493,450,241 B"}));
  EXPECT_EQ(distinct_bytes(std::array<std::int64_t, 2>{1023, 1024}), (Texts{"1023 B", "1.00 KiB"}));
  EXPECT_EQ(distinct_bytes(std::array<std::int64_t, 2>{(1 << 20) - 1, 1 << 20}),
            (Texts{"0.999999 MiB", "1.000000 MiB"}));
}

TEST(Units, TimesChooseAUnit) {
  EXPECT_EQ(format_ms(0), "0 ms");
  EXPECT_EQ(format_ms(612.4), "612 ms");
  EXPECT_EQ(format_ms(0.02), "20.0 us");
  EXPECT_EQ(format_ms(999.4), "999 ms");
}

TEST(Units, TimesOfASecondOrMoreKeepTheirMilliseconds) {
  EXPECT_EQ(format_ms(999.96), "1.000 s");
  EXPECT_EQ(format_ms(1003.2), "1.003 s");
  EXPECT_EQ(format_ms(-1003.2), "-1.003 s");
  EXPECT_EQ(format_ms(1250), "1.250 s");
  EXPECT_EQ(format_ms(15'203.4), "15.203 s");
  EXPECT_EQ(format_ms(999'999), "999.999 s");
  EXPECT_EQ(format_ms(3'600'000), "3,600 s");
}

TEST(Units, CountsAreGrouped) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(10944), "10,944");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
}

TEST(Units, SignificantDigitsNeverUseAnExponent) {
  EXPECT_EQ(format_significant(0.01234), "0.0123");
  EXPECT_EQ(format_significant(1.0), "1.00");
  EXPECT_EQ(format_significant(9.999), "10.0");
  EXPECT_EQ(format_significant(123.4), "123");
  EXPECT_EQ(format_significant(12345), "12,345");
}

TEST(Units, RatesAndSharesFollowTheSameRules) {
  EXPECT_EQ(format_flops(1.67e14), "167 TFLOP");
  EXPECT_EQ(format_flops(0), "0 FLOP");
  EXPECT_EQ(format_rate(4.12e14), "412 TFLOP/s");
  EXPECT_EQ(format_percent(0.412), "41.2%");
  EXPECT_EQ(format_tick_bytes(std::int64_t{16} << 30), "16 GiB");
  EXPECT_EQ(format_tick_bytes(1536), "1536 B") << "not a whole number of KiB";
  EXPECT_EQ(format_significant(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(format_significant(std::nan("")), "-");
}

// The text is within half a unit of the third significant digit, and never has an exponent.
RC_GTEST_PROP(UnitsProperty, BytesRoundTripWithinHalfADigit, ()) {
  const auto bit = *rc::gen::inRange(0, 50);
  const auto bytes = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << bit);
  const std::string text = format_bytes(bytes);
  const auto space = text.find(' ');
  RC_ASSERT(space != std::string::npos);
  std::string digits = text.substr(0, space);
  std::erase(digits, ',');
  const double number = std::stod(digits);
  RC_ASSERT(digits.find('e') == std::string::npos);
  const std::map<std::string, int> powers{{"B", 0},    {"KiB", 10}, {"MiB", 20},
                                          {"GiB", 30}, {"TiB", 40}, {"PiB", 50}};
  const double back = std::ldexp(number, powers.at(text.substr(space + 1)));
  RC_ASSERT(std::fabs(back - static_cast<double>(bytes)) <= 0.00501 * static_cast<double>(bytes));
  RC_ASSERT(bytes < 1024 || (number >= 1 && number < 1024));
}

RC_GTEST_PROP(UnitsProperty, CountsAreDigitsWithCommas, (std::int64_t count)) {
  std::string digits = format_count(count);
  std::erase(digits, ',');
  RC_ASSERT(digits == std::to_string(count));
}

TEST(Units, ReadsByteCounts) {
  EXPECT_EQ(parse_byte_count("512"), 512);
  EXPECT_EQ(parse_byte_count("9007199254740993"), 9'007'199'254'740'993);
  EXPECT_EQ(parse_byte_count("1.5KiB"), 1536);
  EXPECT_EQ(parse_byte_count("500MB"), 500'000'000);
  EXPECT_EQ(parse_byte_count("2 GiB"), std::nullopt);
  EXPECT_EQ(parse_byte_count("GiB"), std::nullopt);
  EXPECT_EQ(parse_byte_count("1e30GiB"), std::nullopt);
  EXPECT_EQ(parse_byte_count(""), std::nullopt);
  EXPECT_EQ(parse_byte_count("infGiB"), std::nullopt);
}

}  // namespace
}  // namespace jointer
