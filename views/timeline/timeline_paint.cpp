// Painting of TimelineView.

#include <QLocale>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <array>
#include <cmath>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/timeline/memory_track.h"
#include "views/timeline/move_tool.h"
#include "views/timeline/timeline_view.h"

namespace jointer::views {
namespace {

constexpr double kMinMajorPixels = 90;
constexpr std::size_t kMaxFlows = 24;  // drawn at once unless one is selected
constexpr double kFlowLeastPixels = 6;
constexpr int kGhostLane = 3;

}  // namespace

void TimelineView::paint_frame(QPainter& painter) {
  const Theme& t = theme();
  painter.fillRect(viewport()->rect(), t.surface);
  paint_legend(painter);
  paint_memory(painter);
  paint_lanes(painter);
  paint_ruler(painter);
  paint_stretch(painter);
  paint_marks(painter);
  paint_moment(painter);
  paint_overview(painter);
  painter.setFont(small_font(font()));
  tool_->paint(painter);
}

// --- Ruler ---

QString TimelineView::position_text(double position) const {
  if (kind_ == AxisKind::program_order)
    return count_text(static_cast<std::size_t>(std::max(position, 0.0)));
  return time_text(static_cast<std::int64_t>(position));
}

void TimelineView::paint_ruler(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(font()));
  const QRect& r = layout_.ruler;
  painter.setPen(theme().border);
  painter.drawLine(r.left(), r.bottom(), r.right(), r.bottom());
  const auto ticks = ruler_ticks(axis_.begin(), axis_.end(), axis_.width(), kMinMajorPixels);
  // Use one unit for all labels of a ruler, with as many digits as the tick distance requires.
  auto step = static_cast<double>(axis_.length());
  double last_major = -1;
  for (const Tick& tick : ticks) {
    if (!tick.major) continue;
    if (last_major >= 0) step = std::min(step, tick.position - last_major);
    last_major = tick.position;
  }
  for (const Tick& tick : ticks) {
    const int x = static_cast<int>(std::lround(axis_.to_pixel(tick.position)));
    painter.setPen(theme().border);
    painter.drawLine(x, r.bottom() - (tick.major ? 7 : 3), x, r.bottom());
    if (!tick.major) continue;
    QString label;
    if (kind_ == AxisKind::program_order) {
      label = count_text(static_cast<std::size_t>(tick.position));
    } else {
      const bool us = step < 1e5, s = !us && axis_.end() >= 2e9;
      const double unit = s ? 1e9 : us ? 1e3 : 1e6;
      const int decimals =
          std::clamp(static_cast<int>(std::ceil(-std::log10(step / unit) - 1e-9)), 0, 6);
      label = QLocale::c().toString(tick.position / unit, 'f', decimals) + (s    ? " s"
                                                                            : us ? " us"
                                                                                 : " ms");
    }
    painter.setPen(theme().muted_text);
    const int width = painter.fontMetrics().horizontalAdvance(label);
    const int left = std::clamp(x - width / 2, r.left(), std::max(r.right() - width, r.left()));
    painter.drawText(QPoint(left, r.bottom() - 9), label);
  }
  painter.setPen(theme().muted_text);
  painter.drawText(QRect(8, r.top(), layout_.gutter - 16, r.height()),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   kind_ == AxisKind::program_order    ? tr("program order")
                   : kind_ == AxisKind::estimated_time ? tr("estimated time")
                                                       : tr("measured time"));
  painter.restore();
}

// --- Memory ---

void TimelineView::paint_memory(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(font()));
  const QRect& area = layout_.memory;
  const MemoryTrack track(data(), axis_, area, top_bytes(), theme());
  track.paint_scale(painter);
  painter.setClipRect(area.adjusted(0, 0, 0, 1));
  track.paint_curve(painter);
  if (shows_reserved()) paint_reserved(painter, track);
  paint_ghost_curve(painter, track);

  paint_lifetime(painter);
  paint_measured_curve(painter, track);
  paint_peak(painter, track);
  painter.setClipping(false);
  painter.setPen(theme().border);
  painter.drawLine(area.left(), area.bottom() + 1, area.right(), area.bottom() + 1);
  painter.restore();
}

// Paints the curve of the graph as opened; it has no place in measured time.
void TimelineView::paint_ghost_curve(QPainter& painter, const MemoryTrack& track) const {
  const Snapshot* opened = ghost();
  if (opened == nullptr || is_measured_axis()) return;
  track.paint_outline(painter, opened->timeline(kind_), opened->analysis.memory.profile(),
                      theme().ghost);
}

// Paints a thin line under each lane where its nodes were in the graph as opened.
void TimelineView::paint_ghost_lane(QPainter& painter, std::size_t row) const {
  const Snapshot* opened = ghost();
  if (opened == nullptr || rows_[row].is_measured || is_measured_axis()) return;
  const auto lanes = opened->timeline(kind_).lanes();
  if (rows_[row].lane == 0 || rows_[row].lane >= lanes.size()) return;
  const QRect& area = layout_.lane[row];
  std::vector<QRect> blocks;
  for (const LaneRun& run : fold_lane(lanes[rows_[row].lane], axis_))
    blocks.emplace_back(run.left, area.bottom() + 1, std::max(run.right - run.left - 1, 1),
                        kGhostLane);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme().ghost);
  painter.drawRects(blocks.data(), static_cast<int>(blocks.size()));
}

// Paints the lifetime of the current node's storage.
void TimelineView::paint_lifetime(QPainter& painter) const {
  const QRect& area = layout_.memory;
  const Analysis& a = shown().analysis;
  if (const NodeId current = document_.selection().current()) {
    for (const Tensor& t : shown().graph.tensors(current)) {
      if (!t.storage) continue;
      const auto index = a.memory.lifetime_of(shown().graph.real_storage(t.storage));
      if (!index) continue;
      const Lifetime& l = a.memory.lifetimes()[*index];
      const std::size_t points = data().point_count();
      const std::size_t first =
          l.first < 0
              ? 0
              : std::min<std::size_t>(1 + 2 * static_cast<std::size_t>(l.first), points - 1);
      const auto last = static_cast<std::size_t>(2 + 2 * std::int64_t{l.last});
      const double end =
          static_cast<double>(last < points ? data().position(last) : data().length());
      const int x0 = static_cast<int>(axis_.to_pixel(static_cast<double>(data().position(first))));
      const int x1 = std::max(static_cast<int>(axis_.to_pixel(end)), x0 + 1);
      QColor band = theme().accent;
      band.setAlphaF(0.12F);
      painter.fillRect(QRect(x0, area.top(), x1 - x0, area.height()), band);
      painter.fillRect(QRect(x0, area.top(), x1 - x0, 3), theme().accent);
      break;
    }
  }
}

void TimelineView::paint_peak(QPainter& painter, const MemoryTrack& track) const {
  const QRect& area = layout_.memory;
  const Analysis& a = shown().analysis;
  const int x =
      static_cast<int>(axis_.to_pixel(static_cast<double>(data().position(a.memory.peak_index()))));
  const int y = track.y_of(a.memory.peak_bytes());
  painter.setPen(QPen(theme().warning, 1, Qt::DashLine));
  painter.drawLine(x, area.top(), x, area.bottom());
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme().warning);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.drawEllipse(QPoint(x, y), 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
  const NodeId node = a.memory.node_at(a.memory.peak_index());
  const QString label = tr("peak %1  %2")
                            .arg(bytes_text(a.memory.peak_bytes()),
                                 node ? to_qstring(shown().graph.name(node)) : tr("start"));
  const QFontMetrics metrics = painter.fontMetrics();
  const int width = metrics.horizontalAdvance(label) + 10;
  QRect box(x + 8, std::max(y - 8, area.top() + 2), width, metrics.height() + 4);
  if (box.right() > area.right()) box.moveRight(x - 8);
  if (x >= area.left() && x <= area.right()) {
    QColor behind = theme().surface;
    behind.setAlphaF(0.86F);
    painter.fillRect(box, behind);
    painter.setPen(theme().warning);
    painter.drawText(box, Qt::AlignCenter, label);
  }
}

// Paints a line over the stack and labels its maximum.
void TimelineView::paint_measured_curve(QPainter& painter, const MemoryTrack& track) const {
  if (document_.measured() == nullptr) return;
  const MeasuredCurve& curve = document_.measured()->curve(kind_);
  if (curve.empty()) return;
  track.paint_measured(painter, curve);
  const std::size_t peak = curve.peak();
  const QRect& area = layout_.memory;
  const int x = static_cast<int>(axis_.to_pixel(static_cast<double>(curve.position(peak))));
  const int y = track.y_of(curve.bytes(peak));
  if (x < area.left() || x > area.right()) return;
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme().surface, 1));
  painter.setBrush(theme().text);
  painter.drawEllipse(QPoint(x, y), 4, 4);
  painter.setRenderHint(QPainter::Antialiasing, false);
  // The curve shows memory held between calls; peaks within calls may be higher.
  const std::int64_t highest = document_.measured()->peak_bytes();
  const QString held = bytes_text(curve.bytes(peak));
  const QString label = highest > curve.bytes(peak)
                            ? tr("measured %1, within a call %2").arg(held, bytes_text(highest))
                            : tr("measured peak %1").arg(held);
  const QFontMetrics metrics = painter.fontMetrics();
  // Below the label of the estimated peak, which has the same height if the estimate is good.
  QRect box(x + 8, std::max(y + 12, area.top() + 22), metrics.horizontalAdvance(label) + 10,
            metrics.height() + 4);
  if (box.right() > area.right()) box.moveRight(x - 8);
  QColor behind = theme().surface;
  behind.setAlphaF(0.86F);
  painter.fillRect(box, behind);
  painter.setPen(theme().text);
  painter.drawText(box, Qt::AlignCenter, label);
}

void TimelineView::paint_reserved(QPainter& painter, const MemoryTrack& track) const {
  track.paint_reserved(painter);
  // Labeled at its right end, above the line.
  const auto end = static_cast<std::int64_t>(axis_.end());
  const std::int64_t bytes = data().reserved(data().point_at(end));
  const QString label = tr("reserved %1").arg(bytes_text(bytes));
  const QFontMetrics metrics = painter.fontMetrics();
  const QRect& area = layout_.memory;
  const int width = metrics.horizontalAdvance(label) + 8;
  const QRect box(area.right() - width,
                  std::max(track.y_of(bytes) - 2 - metrics.height(), area.top() + 5), width,
                  metrics.height());
  QColor behind = theme().surface;
  behind.setAlphaF(0.85F);
  painter.fillRect(box, behind);
  painter.setPen(theme().muted_text);
  painter.drawText(box, Qt::AlignCenter, label);
}

// --- Lanes ---

void TimelineView::paint_lanes(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(font()));
  painter.setClipRect(QRect(0, layout_.lanes.top(), viewport()->width(), layout_.lanes.height()));
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const QRect& area = layout_.lane[row];
    if (area.bottom() < layout_.lanes.top() || area.top() > layout_.lanes.bottom()) continue;
    painter.fillRect(area, theme().bed);
    track_of(row).paint(painter);
    paint_ghost_lane(painter, row);
    paint_cut(painter, row);
    paint_lane_label(painter, row);
  }
  paint_selection(painter);
  paint_flows(painter);
  painter.restore();
}

// Marks the edge if the step continues beyond the axis.
void TimelineView::paint_cut(QPainter& painter, std::size_t row) const {
  const std::int64_t length = (rows_[row].is_measured ? *measured() : estimated()).length();
  if (length <= axis_.length() || axis_.end() < static_cast<double>(axis_.length())) return;
  const QString label = tr("… to %1").arg(position_text(static_cast<double>(length)));
  const QRect& area = layout_.lane[row];
  const QFontMetrics metrics = painter.fontMetrics();
  const int width = metrics.horizontalAdvance(label) + 10;
  const QRect box(area.right() + 1 - width, area.top(), width, area.height());
  QColor behind = theme().surface;
  behind.setAlphaF(0.9F);
  painter.fillRect(box, behind);
  painter.setPen(theme().muted_text);
  painter.drawText(box, Qt::AlignCenter, label);
}

TimelineView::LaneDetail TimelineView::lane_detail(const Row& row) const {
  const Simulation& s = shown().analysis.simulation;
  if (row.lane == 0) return {};
  if (row.is_measured) {
    std::int64_t busy = 0;
    const Lane& in_time = document_.measured()->timeline(AxisKind::measured_time).lanes()[row.lane];
    const auto by_color = in_time.times(0, in_time.items().size());
    for (std::size_t c = 0; c < kItemColors; ++c)
      if (static_cast<ItemColor>(c) != ItemColor::stall) busy += by_color[c];
    return {time_text(busy)};
  }
  if (row.lane == 1) return {tr("%1 busy").arg(time_text(s.compute_ns()))};
  std::int64_t exposed = 0;
  for (const CollectiveTiming& c : s.collectives())
    if (s.timing(c.start).stream == static_cast<std::int32_t>(row.lane) - 1)
      exposed += c.exposed_ns;
  if (exposed > 0) return {tr("%1 exposed").arg(time_text(exposed)), true};
  return {tr("hidden")};
}

void TimelineView::paint_lane_label(QPainter& painter, std::size_t row) const {
  const QRect& area = layout_.lane[row];
  const QRect box(8, area.top(), layout_.gutter - 16, area.height());
  const QFontMetrics metrics = painter.fontMetrics();
  const LaneDetail detail = lane_detail(rows_[row]);
  if (rows_[row].is_measured) {
    // Filled, like its blocks.
    const int middle = area.center().y();
    painter.fillRect(QRect(box.left(), middle - 3, 7, 7), theme().text);
    painter.setPen(theme().text);
    const QRect rest = box.adjusted(13, 0, 0, 0);
    painter.drawText(
        rest, Qt::AlignLeft | Qt::AlignVCenter,
        metrics.elidedText(tr("measured %1").arg(detail.text), Qt::ElideRight, rest.width()));
    return;
  }
  const QString name = metrics.elidedText(QString::fromStdString(lane(rows_[row]).name()),
                                          Qt::ElideRight, box.width());
  painter.setPen(theme().text);
  if (detail.text.isEmpty() || area.height() < 2 * metrics.height()) {
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, name);
    return;
  }
  const int top = area.top() + (area.height() - 2 * metrics.height()) / 2;
  painter.drawText(QRect(box.left(), top, box.width(), metrics.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, name);
  painter.setPen(detail.warns ? theme().warning : theme().muted_text);
  painter.drawText(QRect(box.left(), top + metrics.height(), box.width(), metrics.height()),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(detail.text, Qt::ElideRight, box.width()));
}

void TimelineView::paint_flow(QPainter& painter, const CollectiveTiming& c,
                              const QColor& color) const {
  if (!c.wait) return;
  const int from_row = row_of(c.start, is_measured_axis());
  const int to_row = row_of(std::size_t{1}, is_measured_axis());
  if (from_row < 0 || to_row < 0) return;
  const QRect& from_area = layout_.lane[static_cast<std::size_t>(from_row)];
  const QRect& to_area = layout_.lane[static_cast<std::size_t>(to_row)];
  const auto from = data().extent(c.start);
  const auto to = data().extent(c.wait);
  // In time, the flow goes from the collective's end to the end of its wait; in program order, from
  // its start to its wait.
  const bool in_time = kind_ != AxisKind::program_order;
  const QPointF a(axis_.to_pixel(static_cast<double>(in_time ? from.end : from.begin)),
                  from_area.center().y());
  const QPointF b(axis_.to_pixel(static_cast<double>(in_time ? to.end : to.begin)),
                  to_area.bottom() + 1);
  QPainterPath path(a);
  const double bend = std::max(std::fabs(b.x() - a.x()) / 2, 14.0);
  path.cubicTo(a + QPointF(bend, 0), b + QPointF(0, 18), b);
  painter.setPen(QPen(color, 1.4));
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(path);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawEllipse(a, 2.5, 2.5);
  // An arrowhead pointing into the compute lane.
  painter.drawPolygon(QPolygonF({b, b + QPointF(-3.5, 6), b + QPointF(3.5, 6)}));
}

void TimelineView::paint_flows(QPainter& painter) const {
  const Simulation& s = shown().analysis.simulation;
  painter.save();
  painter.setClipRect(layout_.lanes);
  painter.setRenderHint(QPainter::Antialiasing);
  // Draw all that are wide enough to be distinguished, unless there are too many.
  std::vector<const CollectiveTiming*> visible;
  for (const CollectiveTiming& c : s.collectives()) {
    const auto extent = data().extent(c.start);
    if (static_cast<double>(extent.end) < axis_.begin() ||
        static_cast<double>(extent.begin) > axis_.end())
      continue;
    if (static_cast<double>(extent.end - extent.begin) * axis_.pixels_per_unit() < kFlowLeastPixels)
      continue;
    visible.push_back(&c);
    if (visible.size() > kMaxFlows) break;
  }
  if (visible.size() <= kMaxFlows) {
    QColor quiet = theme().muted_text;
    quiet.setAlphaF(0.75F);
    for (const CollectiveTiming* c : visible) paint_flow(painter, *c, quiet);
  }
  for (const NodeId node : document_.selection().nodes().first(
           std::min(document_.selection().nodes().size(), kMaxFlows))) {
    const std::int32_t c = s.collective_of(node);
    if (c >= 0) paint_flow(painter, s.collectives()[static_cast<std::size_t>(c)], theme().accent);
  }
  painter.restore();
}

void TimelineView::paint_selection(QPainter& painter) const {
  painter.save();
  const NodeId current = document_.selection().current();
  painter.setBrush(Qt::NoBrush);
  std::vector<int> last_column(layout_.lane.size(), -1);
  const auto mark = [&](NodeId node, bool is_measured) {
    const int row = row_of(node, is_measured);
    if (row < 0) return;
    const auto extent = (is_measured ? *measured() : estimated()).extent(node);
    if (static_cast<double>(extent.end) < axis_.begin() ||
        static_cast<double>(extent.begin) > axis_.end())
      return;
    const int x0 = static_cast<int>(
        std::lround(std::max(axis_.to_pixel(static_cast<double>(extent.begin)), axis_.left())));
    const int x1 = std::max(
        static_cast<int>(std::lround(std::min(axis_.to_pixel(static_cast<double>(extent.end)),
                                              axis_.left() + axis_.width()))),
        x0 + 2);
    const QRect& area = layout_.lane[static_cast<std::size_t>(row)];
    // One mark per column, since thousands of selected nodes may share one.
    int& last = last_column[static_cast<std::size_t>(row)];
    if (node != current && last == x0) return;
    last = x0;
    painter.fillRect(QRect(x0, area.bottom() - 2, x1 - x0, 3), theme().accent);
    if (node == current) {
      painter.setPen(QPen(theme().accent, 2));
      painter.drawRect(QRect(x0 - 1, area.top(), x1 - x0 + 1, area.height()));
    }
  };
  for (const NodeId node : document_.selection().nodes()) {
    mark(node, false);
    if (measured() != nullptr) mark(node, true);
  }
  painter.restore();
}

// --- Moment and marks ---

void TimelineView::paint_moment(QPainter& painter) const {
  const auto moment = document_.selection().moment();
  if (!moment || *moment >= data().point_count()) return;
  const double position = static_cast<double>(data().position(*moment));
  if (position < axis_.begin() || position > axis_.end()) return;
  painter.save();
  painter.setFont(small_font(font()));
  const int x = static_cast<int>(std::lround(axis_.to_pixel(position)));
  painter.setPen(theme().accent);
  painter.drawLine(x, layout_.ruler.top() + 2, x, layout_.lanes.bottom());
  const QString label = QStringLiteral("%1  %2").arg(
      position_text(position), bytes_text(shown().analysis.memory.profile()[*moment]));
  const QFontMetrics metrics = painter.fontMetrics();
  QRect box(0, layout_.ruler.top() + 1, metrics.horizontalAdvance(label) + 10,
            metrics.height() + 2);
  box.moveLeft(
      std::clamp(x - box.width() / 2, layout_.left(),
                 std::max(layout_.left() + layout_.width() - box.width(), layout_.left())));
  painter.fillRect(box, theme().accent);
  painter.setPen(theme().accent_text);
  painter.drawText(box, Qt::AlignCenter, label);
  painter.restore();
}

void TimelineView::paint_marks(QPainter& painter) const {
  for (std::size_t i = 0; i < marks_.size(); ++i) {
    const double position = static_cast<double>(data().position(marks_[i]));
    if (position < axis_.begin() || position > axis_.end()) continue;
    const int x = static_cast<int>(std::lround(axis_.to_pixel(position)));
    painter.setPen(QPen(theme().ghost, 1, Qt::DotLine));
    painter.drawLine(x, layout_.ruler.bottom(), x, layout_.lanes.bottom());
    painter.setPen(Qt::NoPen);
    painter.setBrush(theme().ghost);
    painter.drawPolygon(
        QPolygon({QPoint(x - 5, layout_.ruler.bottom() - 7),
                  QPoint(x + 5, layout_.ruler.bottom() - 7), QPoint(x, layout_.ruler.bottom())}));
  }
}

// --- Overview ---

void TimelineView::paint_overview(QPainter& painter) {
  const QRect& area = layout_.overview;
  const qreal ratio = devicePixelRatioF();
  if (overview_.isNull()) {
    overview_ = QPixmap(area.size() * ratio);
    overview_.setDevicePixelRatio(ratio);
    overview_.fill(theme().window);
    QPainter inner(&overview_);
    AxisView whole(axis_.length());
    whole.set_pixels(0, area.width());
    MemoryTrack(data(), whole, QRect(0, 2, area.width(), area.height() - 8), top_bytes(), theme())
        .paint_curve(inner, /*hatched=*/false);
    // Exposed time as a separate line: the larger its share, the darker.
    for (const LaneRun& run : fold_lane(data().lanes()[1], whole)) {
      const auto times = data().lanes()[1].times(run.first, run.last);
      std::int64_t busy = 0;
      for (const std::int64_t time : times) busy += time;
      const std::int64_t stalled = times[static_cast<std::size_t>(ItemColor::stall)];
      if (stalled == 0) continue;
      QColor color = theme().warning;
      color.setAlphaF(0.25F + 0.75F * static_cast<float>(stalled) / static_cast<float>(busy));
      inner.fillRect(run.left, area.height() - 4, std::max(run.right - run.left, 1), 4, color);
    }
  }
  painter.drawPixmap(area.topLeft(), overview_);
  const double length = static_cast<double>(axis_.length());
  const int x0 = area.left() + static_cast<int>(axis_.begin() / length * area.width());
  const int x1 = area.left() + static_cast<int>(std::ceil(axis_.end() / length * area.width()));
  QColor veil = theme().surface;
  veil.setAlphaF(0.62F);
  painter.fillRect(QRect(area.left(), area.top(), x0 - area.left(), area.height()), veil);
  painter.fillRect(QRect(x1, area.top(), area.right() + 1 - x1, area.height()), veil);
  painter.setPen(theme().accent);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRect(x0, area.top(), std::max(x1 - x0 - 1, 2), area.height() - 1));
  painter.setPen(theme().muted_text);
  painter.drawText(QRect(8, area.top(), layout_.gutter - 16, area.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, tr("whole step"));
}

}  // namespace jointer::views
