#include "core/base/units.h"

#include <gtest/gtest.h>

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

TEST(Units, TimesChooseTheirUnit) {
  EXPECT_EQ(format_ms(0), "0 ms");
  EXPECT_EQ(format_ms(612.4), "612 ms");
  EXPECT_EQ(format_ms(0.02), "20.0 us");
  EXPECT_EQ(format_ms(1250), "1.25 s");
  EXPECT_EQ(format_ms(999.96), "1.00 s");
}

TEST(Units, CountsAreGrouped) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(10944), "10,944");
  EXPECT_EQ(format_count(-1234567), "-1,234,567");
}

TEST(Units, SignificantDigitsNeverBecomeAnExponent) {
  EXPECT_EQ(format_significant(0.01234), "0.0123");
  EXPECT_EQ(format_significant(1.0), "1.00");
  EXPECT_EQ(format_significant(9.999), "10.0");
  EXPECT_EQ(format_significant(123.4), "123");
  EXPECT_EQ(format_significant(12345), "12,345");
}

}  // namespace
}  // namespace jointer
