#include "views/widgets/byte_box.h"

#include <gtest/gtest.h>

#include <QTest>

namespace jointer::views {
namespace {

constexpr std::int64_t kMib = std::int64_t{1} << 20, kGib = std::int64_t{1} << 30;

void type(ByteBox& box, const char* text) {
  box.selectAll();
  QTest::keyClicks(&box, text);
  QTest::keyClick(&box, Qt::Key_Return);
}

TEST(ByteBox, WritesTheUnitBySize) {
  ByteBox box;
  box.set_bytes(33 * kMib + 100'000);
  EXPECT_EQ(box.text(), "33.1 MiB");
  box.set_bytes(31 * kGib + 200 * kMib);
  EXPECT_EQ(box.text(), "31.2 GiB");
}

TEST(ByteBox, ReadsInput) {
  ByteBox box;
  box.set_bytes(100 * kMib);
  type(box, "2.5 GiB");
  EXPECT_EQ(box.bytes(), 2 * kGib + kGib / 2);
  type(box, "512MiB");
  EXPECT_EQ(box.bytes(), 512 * kMib);
  type(box, "300");  // in the displayed unit
  EXPECT_EQ(box.bytes(), 300 * kMib);
  type(box, "much");
  EXPECT_EQ(box.bytes(), 300 * kMib);
}

// Rounding on display does not change the value.
TEST(ByteBox, KeepsTheExactValueUnlessEdited) {
  ByteBox box;
  const std::int64_t exact = 33 * kMib + 12'345;
  box.set_bytes(exact);
  QTest::keyClick(&box, Qt::Key_Return);
  EXPECT_EQ(box.bytes(), exact);
}

TEST(ByteBox, StepsByTheSecondDigit) {
  ByteBox box;
  box.set_bytes(33 * kMib);
  box.stepUp();
  EXPECT_EQ(box.bytes(), 34 * kMib);
  box.set_bytes(312 * kGib);
  box.stepDown();
  EXPECT_EQ(box.bytes(), 302 * kGib);
  box.set_bytes(0);
  box.stepDown();
  EXPECT_EQ(box.bytes(), 0);
  box.stepUp();
  EXPECT_EQ(box.bytes(), kGib);
}

TEST(ByteBox, ZeroCanHaveASpecialText) {
  ByteBox box;
  box.setSpecialValueText("no limit");
  box.set_bytes(0);
  EXPECT_EQ(box.text(), "no limit");
  type(box, "2.5");
  EXPECT_EQ(box.bytes(), 2 * kGib + kGib / 2);
  type(box, "0 B");
  EXPECT_EQ(box.text(), "no limit");
}

}  // namespace
}  // namespace jointer::views
