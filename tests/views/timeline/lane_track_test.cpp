// Tests that the run under the pointer is the one that is painted there.

#include "views/timeline/lane_track.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QPainter>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tests/support/snapshots.h"

namespace jointer::views {
namespace {

// A lane of collectives in program order, in which several are in flight at once.
class OverlappingRuns : public testing::Test {
 protected:
  // Paints items that are 10 positions long and begin at `begins`.
  void paint(const std::vector<std::pair<std::int64_t, ItemColor>>& begins) {
    std::vector<LaneItem> items;
    for (const auto& [begin, color] : begins)
      items.push_back(
          {.begin = begin, .end = begin + 10, .node = snapshot_->graph.find("ar"), .color = color});
    lane_ = std::make_unique<Lane>("collectives", GroupId{}, std::move(items));
    axis_.set_pixels(0, kWidth);
    // Too low for names.
    track_ = std::make_unique<LaneTrack>(snapshot_->graph, *lane_, axis_,
                                         QRect(0, 0, kWidth, kHeight), theme_, LaneStyle::measured);
    image_ = QImage(kWidth, kHeight, QImage::Format_RGB32);
    image_.fill(Qt::white);
    QPainter painter(&image_);
    track_->paint(painter);
  }
  [[nodiscard]] QColor painted(int x) const { return image_.pixelColor(x, kHeight / 2); }
  // The color of the run at a column.
  [[nodiscard]] QColor found(int x) const {
    const std::optional<LaneRun> run = track_->run_at(x);
    return run ? theme_.item(lane_->items()[run->first].color) : QColor(Qt::white);
  }

  static constexpr int kWidth = 300, kHeight = 6;
  SnapshotPtr snapshot_ = test::snapshot_of(test::kSmallStep);
  const Theme& theme_ = Theme::light_theme();
  AxisView axis_{30};
  std::unique_ptr<Lane> lane_;
  std::unique_ptr<LaneTrack> track_;
  QImage image_;
};

TEST_F(OverlappingRuns, TheLastOneIsPaintedAndFound) {
  for (const auto& [first, second] : {std::pair{ItemColor::all_gather, ItemColor::broadcast},
                                      {ItemColor::broadcast, ItemColor::all_gather}}) {
    paint({{0, first}, {5, second}});
    EXPECT_EQ(painted(20), theme_.item(first));
    EXPECT_EQ(painted(75), theme_.item(second)) << "both are in flight";
    EXPECT_EQ(painted(120), theme_.item(second));
    for (const int x : {20, 75, 120, 200}) EXPECT_EQ(painted(x), found(x)) << x;
  }
}

TEST_F(OverlappingRuns, EachIsPaintedOverTheOnesBeforeIt) {
  paint({{0, ItemColor::broadcast},
         {4, ItemColor::all_gather},
         {8, ItemColor::all_to_all},
         {12, ItemColor::reduce_scatter},
         {20, ItemColor::all_reduce}});
  for (const int x : {20, 60, 90, 110, 130, 170, 210, 215, 250})
    EXPECT_EQ(painted(x), found(x)) << x;
}

}  // namespace
}  // namespace jointer::views
