// Tests the columns that measured curves are drawn with.

#include <gtest/gtest.h>

#include "tests/support/measured_step.h"
#include "views/widgets/draw_list.h"

namespace jointer::views {
namespace {

using MeasuredColumnsTest = test::MeasuredSmallStep;

TEST_F(MeasuredColumnsTest, PlacesTheMeasuredCurveOnBothAxes) {
  const MeasuredTimeline m = lay(all);
  const std::int64_t peak = snapshot->analysis.memory.peak_bytes() + 64;
  EXPECT_EQ(m.peak_bytes(), peak);
  for (const AxisKind kind : {AxisKind::program_order, AxisKind::measured_time}) {
    const MeasuredCurve& curve = m.curve(kind);
    ASSERT_FALSE(curve.empty());
    EXPECT_EQ(curve.bytes(curve.peak()), peak);
    AxisView axis(m.timeline(kind).length());
    axis.set_pixels(0, 300);
    const auto columns = memory_columns(curve, axis);
    ASSERT_FALSE(columns.empty());
    EXPECT_EQ(columns.front().left, 0);
    EXPECT_EQ(columns.back().right, 300);
  }
}

TEST_F(MeasuredColumnsTest, ACurveEndsWithItsStep) {
  const MeasuredTimeline m = lay(all);
  AxisView axis(2 * all.step_ns);
  axis.set_pixels(0, 300);
  EXPECT_EQ(memory_columns(m.curve(AxisKind::measured_time), axis).back().right, 150);
}

}  // namespace
}  // namespace jointer::views
