// Tests of what a timeline shows and of its visible range, without a widget.

#include "views/timeline/timeline_range.h"

#include <gtest/gtest.h>

#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

class ATimelineRange : public testing::Test {
 protected:
  ATimelineRange() { range.set_pixels(100, 800); }
  [[nodiscard]] NodeId node(const char* name) const { return document.graph().find(name); }

  Document document{OpenRequest{}, test::snapshot_of(test::kSmallStep)};
  TimelineContent content{document};
  TimelineRange range{content};
};

TEST_F(ATimelineRange, StartsWithTheWholeStep) {
  EXPECT_TRUE(range.axis().shows_all());
  EXPECT_EQ(range.axis().length(), content.axis_length());
  EXPECT_TRUE(range.text().startsWith("all "));
}

TEST_F(ATimelineRange, CountsCallsInProgramOrder) {
  content.set_kind(AxisKind::program_order);
  range.fit();
  EXPECT_EQ(range.text(),
            QStringLiteral("all %1 calls").arg(document.analysis().memory.steps().size()));
}

TEST_F(ATimelineRange, ShowsTheSelection) {
  document.selection().select(node("ar"));
  range.show_selection();
  const auto extent = content.data().extent(node("ar"));
  EXPECT_LE(range.axis().begin(), static_cast<double>(extent.begin));
  EXPECT_GE(range.axis().end(), static_cast<double>(extent.end));
  EXPECT_FALSE(range.axis().shows_all());
  range.fit();
  EXPECT_TRUE(range.axis().shows_all());
}

TEST_F(ATimelineRange, KeepsItsPositionOnAnotherAxis) {
  document.selection().select(node("ar"));
  range.show_selection();
  int kinds = 0, changes = 0;
  QObject::connect(&content, &TimelineContent::kind_changed, [&] { ++kinds; });
  QObject::connect(&range, &TimelineRange::changed, [&] { ++changes; });
  content.next_kind();
  EXPECT_EQ(content.kind(), AxisKind::program_order);
  const auto extent = content.data().extent(node("ar"));
  EXPECT_LE(range.axis().begin(), static_cast<double>(extent.begin));
  EXPECT_GE(range.axis().end(), static_cast<double>(extent.end));
  content.set_kind(AxisKind::program_order);
  EXPECT_EQ(kinds, 1);
  EXPECT_EQ(changes, 1);
}

TEST_F(ATimelineRange, HasNoMeasuredAxisWithoutAMeasurement) {
  content.set_kind(AxisKind::measured_time);
  EXPECT_EQ(content.kind(), AxisKind::estimated_time);
  EXPECT_EQ(content.measured(), nullptr);
  for (const TimelineContent::Row& row : content.rows()) EXPECT_FALSE(row.is_measured);
}

TEST_F(ATimelineRange, CentersAFractionOfTheStep) {
  range.zoom_at(500, 4);
  range.center_at(0.5);
  const double middle = (range.axis().begin() + range.axis().end()) / 2;
  EXPECT_NEAR(middle, static_cast<double>(range.axis().length()) / 2, 1);
}

TEST_F(ATimelineRange, FindsTheRowOfANode) {
  const int row = content.row_of(node("ar"), false);
  ASSERT_GE(row, 0);
  EXPECT_EQ(static_cast<int>(content.rows()[static_cast<std::size_t>(row)].lane),
            content.estimated().lane_of(node("ar")));
  EXPECT_EQ(content.row_of(node("w0"), false) >= 0, content.estimated().lane_of(node("w0")) >= 0);
}

}  // namespace
}  // namespace jointer::views
