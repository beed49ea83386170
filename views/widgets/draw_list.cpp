#include "views/widgets/draw_list.h"

#include <algorithm>
#include <cmath>

namespace jointer::views {
namespace {

constexpr double kMinPixels = 3;

}  // namespace

std::vector<LaneRun> fold_lane(const Lane& lane, const AxisView& axis) {
  std::vector<LaneRun> runs;
  const auto items = lane.items();
  const double first_pixel = axis.left(), last_pixel = axis.left() + axis.width();
  const auto column = [&](double pixel) {
    return static_cast<int>(std::lround(std::clamp(pixel, first_pixel, last_pixel)));
  };
  const auto width_of = [&](const LaneItem& item) {
    return static_cast<double>(item.end - item.begin) * axis.pixels_per_unit();
  };
  std::size_t i = lane.first_ending_after(static_cast<std::int64_t>(std::floor(axis.begin())));
  while (i < items.size() && static_cast<double>(items[i].begin) < axis.end()) {
    const double begin = axis.to_pixel(static_cast<double>(items[i].begin));
    std::size_t next = i + 1;
    if (width_of(items[i]) < kMinPixels) {
      // Fold all items that begin within the next three pixels, except for a wide last item.
      const double reach = axis.to_position(begin + kMinPixels);
      next = std::max(next, lane.first_beginning_at(static_cast<std::int64_t>(std::ceil(reach))));
      if (next > i + 1 && width_of(items[next - 1]) >= kMinPixels) --next;
    }
    const double end = axis.to_pixel(static_cast<double>(items[next - 1].end));
    LaneRun run{.left = column(begin), .right = column(end), .first = i, .last = next};
    if (run.right <= run.left) run.right = run.left + 1;
    runs.push_back(run);
    i = next;
  }
  return runs;
}

namespace {

// Makes a run for each pixel column in [first, last), and merges adjacent columns that show the
// same point.
template <class Curve>
std::vector<MemoryRun> columns_of(const Curve& curve, const AxisView& axis, int first, int last) {
  std::vector<MemoryRun> runs;
  for (int x = first; x < last; ++x) {
    const auto begin = static_cast<std::int64_t>(std::floor(axis.to_position(x)));
    const auto end = static_cast<std::int64_t>(std::ceil(axis.to_position(x + 1)));
    const std::size_t point = curve.largest_point(std::max<std::int64_t>(begin, 0),
                                                  std::max<std::int64_t>(end, begin + 1));
    if (!runs.empty() && runs.back().point == point)
      runs.back().right = x + 1;
    else
      runs.push_back({.left = x, .right = x + 1, .point = point});
  }
  return runs;
}

int pixel_column(double pixel) {
  return static_cast<int>(std::lround(pixel));
}

}  // namespace

std::vector<MemoryRun> memory_columns(const TimelineData& data, const AxisView& axis) {
  return columns_of(data, axis, pixel_column(axis.left()),
                    pixel_column(axis.left() + axis.width()));
}

std::vector<MemoryRun> memory_columns(const MeasuredCurve& curve, const AxisView& axis) {
  if (curve.empty()) return {};
  const double left = axis.left(), right = axis.left() + axis.width();
  const auto column = [&](std::int64_t position) {
    return pixel_column(std::clamp(axis.to_pixel(static_cast<double>(position)), left, right));
  };
  return columns_of(curve, axis, column(curve.begin()), column(curve.end()));
}

}  // namespace jointer::views
