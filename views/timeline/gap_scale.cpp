#include "views/timeline/gap_scale.h"

#include <algorithm>
#include <cmath>

namespace jointer::views {

GapScale::GapScale(const Graph& graph, const Analysis& analysis, const TimelineData& data,
                   std::span<const NodeId> block, const MovePreview& preview)
    : first_(preview.first()) {
  std::size_t gap = 0;
  for (const NodeId id : graph.order()) {
    if (std::find(block.begin(), block.end(), id) != block.end()) continue;
    if (gap > preview.last()) break;
    if (gap++ < first_) continue;
    const auto point = analysis.memory.point_of(id);
    positions_.push_back(point ? data.position(*point) : data.length());
  }
  // A node that does not run has the position of the next node that does.
  for (std::size_t i = positions_.size(); i-- > 1;)
    positions_[i - 1] = std::min(positions_[i - 1], positions_[i]);
}

std::size_t GapScale::gap_at(double position) const {
  const auto begin = positions_.begin(), end = positions_.end();
  auto next = std::lower_bound(begin, end, position,
                               [](std::int64_t a, double b) { return static_cast<double>(a) < b; });
  if (next == end) --next;
  if (next != begin) {
    const auto before = std::lower_bound(begin, next, *(next - 1));
    if (std::fabs(position - static_cast<double>(*before)) <=
        std::fabs(static_cast<double>(*next) - position))
      next = before;
  }
  return first_ + static_cast<std::size_t>(next - begin);
}

std::size_t GapScale::snapped(double position, const BestGaps& best, const AxisView& axis,
                              double pixels) const {
  const double pixel = axis.to_pixel(position);
  std::optional<std::size_t> nearest;
  double min_distance = pixels;
  const auto consider = [&](std::size_t gap) {
    const double distance =
        std::fabs(axis.to_pixel(static_cast<double>(this->position(gap))) - pixel);
    if (distance >= min_distance) return;
    min_distance = distance;
    nearest = gap;
  };
  // If several best gaps coincide, prefer the one that does not raise the peak.
  if (best.fastest_within) consider(*best.fastest_within);
  consider(best.min_exposed);
  consider(best.min_peak);
  return nearest.value_or(gap_at(position));
}

std::vector<GapScale::Column> GapScale::columns(const AxisView& axis) const {
  std::vector<Column> columns;
  const double left = axis.left(), right = axis.left() + axis.width();
  const auto first = std::lower_bound(positions_.begin(), positions_.end(),
                                      static_cast<std::int64_t>(std::floor(axis.begin())));
  for (auto at = first; at != positions_.end();) {
    const double pixel = axis.to_pixel(static_cast<double>(*at));
    if (pixel > right) break;
    // Find the end of the gaps in this pixel column.
    const double column = std::floor(pixel);
    const auto next = std::lower_bound(
        at, positions_.end(), static_cast<std::int64_t>(std::ceil(axis.to_position(column + 1))));
    const auto end = std::max(next, at + 1);
    if (pixel >= left)
      columns.push_back({static_cast<int>(column),
                         first_ + static_cast<std::size_t>(at - positions_.begin()),
                         first_ + static_cast<std::size_t>(end - positions_.begin()) - 1});
    at = end;
  }
  return columns;
}

}  // namespace jointer::views
