#include "views/timeline/memory_zoom.h"

#include <gtest/gtest.h>

#include "tests/support/snapshots.h"
#include "views/timeline/memory_track.h"

namespace jointer::views {
namespace {

constexpr std::int64_t kTop = 1'000'000;

TEST(MemoryZoom, StartsWithTheWholeAxis) {
  const MemoryZoom zoom;
  EXPECT_TRUE(zoom.shows_all());
  EXPECT_EQ(zoom.of(kTop).bottom, 0);
  EXPECT_EQ(zoom.of(kTop).top, kTop);
}

TEST(MemoryZoom, KeepsTheBytesAtThePointer) {
  for (const double at : {0.0, 0.25, 0.8, 1.0}) {
    MemoryZoom zoom;
    const auto bytes = [&] {
      const BytesView view = zoom.of(kTop);
      return static_cast<double>(view.bottom) + at * static_cast<double>(view.span());
    };
    const double before = bytes();
    for (const double factor : {1.25, 2.0, 4.0}) {
      zoom.zoom_at(at, factor);
      EXPECT_NEAR(bytes(), before, 2) << at;
    }
    EXPECT_EQ(zoom.of(kTop).span(), kTop / 10);
  }
}

TEST(MemoryZoom, StaysWithinTheAxis) {
  MemoryZoom zoom;
  zoom.zoom_at(0.5, 1e9);
  EXPECT_NEAR(static_cast<double>(zoom.of(kTop).span()), kTop / MemoryZoom::kMax, 1);
  zoom.pan(1000);
  EXPECT_EQ(zoom.of(kTop).top, kTop);
  zoom.pan(-1000);
  EXPECT_EQ(zoom.of(kTop).bottom, 0);
  zoom.zoom_at(0.5, 1e-9);
  EXPECT_TRUE(zoom.shows_all());
  zoom.zoom_at(0.5, 2);
  zoom.reset();
  EXPECT_TRUE(zoom.shows_all());
}

TEST(MemoryTrack, FindsTheCategoryAtAHeight) {
  const SnapshotPtr snapshot = test::snapshot_of(test::kSmallStep);
  const TimelineData& data = snapshot->estimated_time;
  const std::int64_t peak = snapshot->analysis.memory.peak_bytes();
  const std::size_t point = snapshot->analysis.memory.peak_index();
  AxisView axis(data.length());
  const QRect area(0, 10, 100, 400);
  const MemoryTrack whole(data, axis, area, {.top = peak}, Theme::light_theme());
  std::int64_t sum = 0;
  for (const MemoryCategory category : stacking_order()) {
    const std::int64_t bytes = data.bytes(category, point);
    // The middle of its band.
    if (bytes * 400 > 4 * peak) {
      EXPECT_EQ(whole.category_at(point, whole.y_of(sum + bytes / 2)), category);
    }
    sum += bytes;
  }
  const MemoryTrack tall(data, axis, area, {.top = 2 * peak}, Theme::light_theme());
  EXPECT_FALSE(tall.category_at(point, area.top() + 10)) << "above the curve";
  // A zoomed axis has the same values at other heights.
  const MemoryTrack upper(data, axis, area, {peak / 2, peak}, Theme::light_theme());
  EXPECT_EQ(upper.y_of(peak), area.top());
  EXPECT_EQ(upper.y_of(peak / 2), area.bottom() + 1);
  EXPECT_NEAR(static_cast<double>(upper.bytes_at(upper.y_of(peak * 3 / 4))),
              static_cast<double>(peak) * 3 / 4, static_cast<double>(peak) / 400);
}

}  // namespace
}  // namespace jointer::views
