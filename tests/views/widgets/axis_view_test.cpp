#include "views/widgets/axis_view.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace jointer::views {
namespace {

AxisView axis_of(std::int64_t length) {
  AxisView axis(length);
  axis.set_pixels(100, 1000);
  return axis;
}

TEST(AxisView, ShowsAllOfANewAxis) {
  const AxisView axis = axis_of(5000);
  EXPECT_TRUE(axis.shows_all());
  EXPECT_DOUBLE_EQ(axis.to_pixel(0), 100);
  EXPECT_DOUBLE_EQ(axis.to_pixel(5000), 1100);
  EXPECT_DOUBLE_EQ(axis.to_position(600), 2500);
}

TEST(AxisView, ZoomKeepsThePositionUnderThePointer) {
  AxisView axis = axis_of(100000);
  const double before = axis.to_position(400);
  axis.zoom_at(400, 3);
  EXPECT_NEAR(axis.to_position(400), before, 1e-6);
  EXPECT_NEAR(axis.end() - axis.begin(), 100000 / 3.0, 1e-6);
}

TEST(AxisView, NeverLeavesTheAxisOrVanishes) {
  AxisView axis = axis_of(1000);
  axis.zoom_at(100, 1e9);
  EXPECT_DOUBLE_EQ(axis.end() - axis.begin(), 4);
  axis.pan_by(-1e12);
  EXPECT_DOUBLE_EQ(axis.begin(), 0);
  axis.pan_by(1e12);
  EXPECT_DOUBLE_EQ(axis.end(), 1000);
  axis.zoom_at(600, 1e-9);
  EXPECT_TRUE(axis.shows_all());
}

TEST(AxisView, RevealsWithAsLittleMotionAsPossible) {
  AxisView axis = axis_of(1000);
  axis.show(100, 200);
  axis.reveal(120, 130);
  EXPECT_DOUBLE_EQ(axis.begin(), 100) << "it is on screen already";
  axis.reveal(300, 310);
  EXPECT_GE(axis.end(), 310);
  EXPECT_NEAR(axis.end() - axis.begin(), 100, 1e-9) << "the zoom stays";
}

RC_GTEST_PROP(AxisViewProperties, AlwaysStaysWithinTheAxis, ()) {
  const auto length = *rc::gen::inRange<std::int64_t>(1, 1'000'000'000'000);
  AxisView axis = axis_of(length);
  for (int i = 0; i < 50; ++i) {
    const double pixel = *rc::gen::inRange(100, 1100);
    switch (*rc::gen::inRange(0, 4)) {
      case 0:
        axis.zoom_at(pixel, *rc::gen::inRange(1, 100));
        break;
      case 1:
        axis.zoom_at(pixel, 1.0 / *rc::gen::inRange(1, 100));
        break;
      case 2:
        axis.pan_by(*rc::gen::inRange(-5000, 5000));
        break;
      default:
        axis.reveal(static_cast<double>(length) / 2, static_cast<double>(length) / 2 + 1);
    }
    RC_ASSERT(axis.begin() >= 0);
    RC_ASSERT(axis.end() <= static_cast<double>(length) * (1 + 1e-12));
    RC_ASSERT(axis.end() > axis.begin());
    // With a step of 2^37 ns magnified to four of them, a hundredth of a pixel remains.
    RC_ASSERT(std::abs(axis.to_pixel(axis.to_position(pixel)) - pixel) < 0.1);
  }
}

TEST(RulerTicks, AreRoundNumbersFarEnoughApart) {
  const auto ticks = ruler_ticks(0, 10944, 1000, 90);
  double last = -1e9;
  for (const Tick& tick : ticks) {
    if (!tick.major) continue;
    EXPECT_EQ(static_cast<std::int64_t>(tick.position) % 1000, 0);
    EXPECT_GE((tick.position - last) * 1000 / 10944, 90);
    last = tick.position;
  }
  EXPECT_FALSE(ticks.empty());
}

TEST(ByteTicks, ArePowersOfTwo) {
  const auto ticks = byte_ticks(std::int64_t{44} << 30, 600, 34);
  ASSERT_FALSE(ticks.empty());
  EXPECT_DOUBLE_EQ(ticks.front(), static_cast<double>(std::int64_t{4} << 30));
}

}  // namespace
}  // namespace jointer::views
