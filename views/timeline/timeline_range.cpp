#include "views/timeline/timeline_range.h"

#include <algorithm>
#include <cmath>

#include "views/session/edit/metrics.h"
#include "views/session/text/range_text.h"

namespace jointer::views {

TimelineRange::TimelineRange(const TimelineContent& content)
    : content_(content), axis_(content.axis_length()) {
  connect(&content_, &TimelineContent::kind_changed, this, &TimelineRange::follow_kind);
  connect(&content_, &TimelineContent::snapshot_changed, this, &TimelineRange::follow_snapshot);
  connect(&content_, &TimelineContent::measurement_changed, this,
          &TimelineRange::follow_measurement);
}

QString TimelineRange::text() const {
  const QString end = content_.position_text(axis_.end());
  if (axis_.shows_all())
    return content_.kind() == AxisKind::program_order
               ? counted_text(static_cast<std::int64_t>(axis_.end()), tr("1 call"),
                              tr("all %1 calls"))
               : tr("all %1").arg(end);
  if (content_.kind() == AxisKind::program_order)
    return tr("%1 to %2").arg(content_.position_text(axis_.begin()), end);
  return time_range_text(static_cast<std::int64_t>(axis_.begin()),
                         static_cast<std::int64_t>(axis_.end()));
}

void TimelineRange::zoom_at(double pixel, double factor) {
  axis_.zoom_at(pixel, factor);
  emit changed();
}

void TimelineRange::pan_by(double pixels) {
  axis_.pan_by(pixels);
  emit changed();
}

void TimelineRange::show(std::int64_t begin, std::int64_t end, double margin) {
  axis_.show(static_cast<double>(begin), static_cast<double>(end), margin);
  emit changed();
}

void TimelineRange::reveal(std::int64_t begin, std::int64_t end) {
  axis_.reveal(static_cast<double>(begin), static_cast<double>(end));
  emit changed();
}

void TimelineRange::center_at(double share) {
  const double span = axis_.end() - axis_.begin();
  const double middle = share * static_cast<double>(axis_.length());
  axis_.show(middle - span / 2, middle + span / 2);
  emit changed();
}

void TimelineRange::fit() {
  axis_.fit();
  emit changed();
}

void TimelineRange::show_selection() {
  const Selection& selection = content_.document().selection();
  const TimelineData& data = content_.data();
  const auto nodes = selection.nodes();
  if (const auto range = selection.range(); range && nodes.empty()) {
    const auto [begin, end] = content_.positions_of(*range);
    return show(begin, end, 0.05);
  }
  std::int64_t begin = data.length(), end = 0;
  for (const NodeId node : nodes) {
    const auto extent = data.extent(node);
    if (extent.end <= extent.begin) continue;
    begin = std::min(begin, extent.begin);
    end = std::max(end, extent.end);
  }
  if (end > begin) show(begin, end, 0.5);
}

// Keeps the same part of the step visible on the new axis.
void TimelineRange::follow_kind(AxisKind /*kind*/, AxisKind before) {
  const TimelineData& old = content_.data_of(before);
  const std::size_t first = old.point_at(static_cast<std::int64_t>(axis_.begin()));
  const std::size_t last = old.point_at(static_cast<std::int64_t>(std::ceil(axis_.end())));
  const bool whole = axis_.shows_all();
  axis_.set_length(content_.axis_length());
  const TimelineData& data = content_.data();
  if (!whole)
    axis_.show(static_cast<double>(data.position(first)), static_cast<double>(data.position(last)));
  emit changed();
}

// With a new estimate, the same part of the step stays visible, whatever the step's new length.
// After an edit, the visible range stays the same.
void TimelineRange::follow_snapshot(const SnapshotPtr& before) {
  const bool whole = axis_.shows_all();
  const std::int64_t length = content_.axis_length();
  const double scale = same_estimates(*before, content_.document().snapshot())
                           ? 1
                           : static_cast<double>(length) / static_cast<double>(axis_.length());
  const double begin = axis_.begin() * scale, end = axis_.end() * scale;
  axis_.set_length(length);
  if (!whole) axis_.show(begin, end);
  emit changed();
}

// Keeps the visible range unless it was the whole step; in that case, shows all of the estimate and
// the measurement.
void TimelineRange::follow_measurement() {
  const double begin = axis_.begin(), end = axis_.end();
  const bool whole = axis_.shows_all();
  axis_.set_length(content_.axis_length());
  if (!whole) axis_.show(begin, end);
  emit changed();
}

}  // namespace jointer::views
