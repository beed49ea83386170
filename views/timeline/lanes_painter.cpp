#include "views/timeline/lanes_painter.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"

namespace jointer::views {
namespace {

// If more flows are visible, only those of selected nodes are drawn.
constexpr std::size_t kMaxFlows = 24;
constexpr double kFlowLeastPixels = 6;
constexpr int kGhostLane = 3;
constexpr int kHitHeight = 6;  // height of the tick above a node that a search has found
constexpr int kGroupMark = 3;  // width of the mark in a group's color next to its lane

}  // namespace

void LanesPainter::paint(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(scene_.font));
  painter.setClipRect(
      QRect(0, scene_.layout.lanes.top(), scene_.viewport.width(), scene_.layout.lanes.height()));
  for (std::size_t row = 0; row < scene_.content.rows().size(); ++row) {
    const QRect& area = scene_.layout.lane[row];
    if (area.bottom() < scene_.layout.lanes.top() || area.top() > scene_.layout.lanes.bottom())
      continue;
    painter.fillRect(area, scene_.theme.bed);
    scene_.lane_track(row).paint(painter);
    paint_ghost(painter, row);
    paint_cut(painter, row);
    paint_label(painter, row);
  }
  paint_selection(painter);
  paint_hits(painter);
  paint_flows(painter);
  painter.restore();
}

// Paints thin lines below the lane, at the positions of its nodes in the graph as opened.
void LanesPainter::paint_ghost(QPainter& painter, std::size_t row) const {
  const Snapshot* opened = scene_.content.ghost();
  const TimelineContent::Row& shown = scene_.content.rows()[row];
  if (opened == nullptr || shown.is_measured || shown.has_shown_kernels ||
      scene_.content.is_measured_axis())
    return;
  const auto lanes = opened->timeline(scene_.content.kind()).lanes();
  if (shown.lane == 0 || shown.lane >= lanes.size()) return;
  const QRect& area = scene_.layout.lane[row];
  std::vector<QRect> blocks;
  for (const LaneRun& run : fold_lane(lanes[shown.lane], scene_.axis))
    blocks.emplace_back(run.left, area.bottom() + 1, std::max(run.right - run.left - 1, 1),
                        kGhostLane);
  painter.setPen(Qt::NoPen);
  painter.setBrush(scene_.theme.ghost);
  painter.drawRects(blocks.data(), static_cast<int>(blocks.size()));
}

std::int64_t LanesPainter::length_of(const TimelineContent::Row& row) const {
  if (row.is_measured) return scene_.content.measured()->length();
  if (!row.has_shown_kernels) return scene_.content.estimated().length();
  const KernelLanes* kernels = scene_.content.kernel_lanes();
  return kernels == nullptr ? 0 : kernels->length();
}

// Marks the right edge if the step continues beyond the end of the axis.
void LanesPainter::paint_cut(QPainter& painter, std::size_t row) const {
  const std::int64_t length = length_of(scene_.content.rows()[row]);
  if (length <= scene_.axis.length() ||
      scene_.axis.end() < static_cast<double>(scene_.axis.length()))
    return;
  const QString label =
      tr("… to %1").arg(scene_.content.position_text(static_cast<double>(length)));
  const QRect& area = scene_.layout.lane[row];
  const QFontMetrics metrics = painter.fontMetrics();
  const int width = metrics.horizontalAdvance(label) + 10;
  const QRect box(area.right() + 1 - width, area.top(), width, area.height());
  painter.fillRect(box, with_alpha(scene_.theme.surface, 0.9F));
  painter.setPen(scene_.theme.muted_text);
  painter.drawText(box, Qt::AlignCenter, label);
}

LanesPainter::Detail LanesPainter::detail_of(const TimelineContent::Row& row) const {
  if (row.has_shown_kernels) return {kernels_label(row)};
  const Simulation& s = scene_.content.shown().analysis.simulation;
  if (row.lane == 0) return {};
  if (row.has_kernels) {
    const Lane& lane = scene_.content.lane(row);
    std::int64_t busy = 0;
    for (const std::int64_t ns : lane.times(0, lane.items().size())) busy += ns;
    return {QStringLiteral("%1  %2").arg(to_qstring(lane.name()), time_text(busy))};
  }
  if (row.is_measured) {
    std::int64_t busy = 0;
    const Lane& in_time =
        scene_.content.document().measured()->timeline(AxisKind::measured_time).lanes()[row.lane];
    const auto by_color = in_time.times(0, in_time.items().size());
    const auto compiled = static_cast<std::size_t>(ItemColor::compiled);
    for (std::size_t c = 0; c < kItemColors; ++c)
      if (static_cast<ItemColor>(c) != ItemColor::stall && c != compiled) busy += by_color[c];
    // The time of a compiled block includes its collectives, so count it only in the compute lane.
    if (row.lane == 1) busy += by_color[compiled];
    return {busy == 0 && by_color[compiled] > 0 ? tr("compiled")
                                                : tr("measured %1").arg(time_text(busy))};
  }
  if (row.lane == 1) return {tr("%1 busy").arg(time_text(s.compute_ns()))};
  std::int64_t exposed = 0;
  for (const CollectiveTiming& c : s.collectives())
    if (s.timing(c.start).stream == static_cast<std::int32_t>(row.lane) - 1)
      exposed += c.exposed_ns;
  if (exposed > 0) return {tr("%1 exposed").arg(time_text(exposed)), true};
  return {tr("hidden")};
}

// The lane's name with the time of its kernels or, in program order, their number. If the kernels
// of the current graph are not known, the lane's name with the reason. The first lane has the name
// of the source.
QString LanesPainter::kernels_label(const TimelineContent::Row& row) const {
  const Lane& lane = scene_.content.lane(row);
  const QString name = row.lane == 0 ? scene_.content.kernels_name() : to_qstring(lane.name());
  const KernelLanes* kernels = scene_.content.kernel_lanes();
  const QString state = row.lane == 0 ? scene_.content.kernels_state() : QString();
  if (kernels == nullptr || !state.isEmpty()) return QStringLiteral("%1  %2").arg(name, state);
  if (scene_.content.kind() == AxisKind::program_order)
    return QStringLiteral("%1  %2").arg(name, count_text(kernels->kernels().totals().kernels +
                                                         kernels->kernels().totals().collectives));
  std::int64_t busy = 0;
  for (const std::int64_t ns : lane.times(0, lane.items().size())) busy += ns;
  return QStringLiteral("%1  %2").arg(name, time_text(busy));
}

void LanesPainter::paint_label(QPainter& painter, std::size_t row) const {
  const QRect& area = scene_.layout.lane[row];
  const QRect box(8, area.top(), scene_.layout.gutter - 16, area.height());
  const QFontMetrics metrics = painter.fontMetrics();
  const Detail detail = detail_of(scene_.content.rows()[row]);
  if (scene_.content.has_measured_times(scene_.content.rows()[row])) {
    // The mark is filled, like the blocks in this lane.
    const int middle = area.center().y();
    painter.fillRect(QRect(box.left(), middle - 3, 7, 7), scene_.theme.text);
    painter.setPen(scene_.theme.text);
    const QRect rest = box.adjusted(13, 0, 0, 0);
    painter.drawText(rest, Qt::AlignLeft | Qt::AlignVCenter,
                     metrics.elidedText(detail.text, Qt::ElideRight, rest.width()));
    return;
  }
  if (const GroupId group = scene_.lane(row).group())
    painter.fillRect(QRect(kGroupMark, area.top(), kGroupMark, area.height()),
                     scene_.theme.group(group));
  const bool has_shown_kernels = scene_.content.rows()[row].has_shown_kernels;
  const QString name =
      metrics.elidedText(has_shown_kernels ? detail.text : to_qstring(scene_.lane(row).name()),
                         Qt::ElideRight, box.width());
  painter.setPen(scene_.theme.text);
  if (has_shown_kernels || detail.text.isEmpty() || area.height() < 2 * metrics.height()) {
    painter.drawText(box, Qt::AlignLeft | Qt::AlignVCenter, name);
    return;
  }
  const int top = area.top() + (area.height() - 2 * metrics.height()) / 2;
  painter.drawText(QRect(box.left(), top, box.width(), metrics.height()),
                   Qt::AlignLeft | Qt::AlignVCenter, name);
  painter.setPen(detail.warns ? scene_.theme.warning : scene_.theme.muted_text);
  painter.drawText(QRect(box.left(), top + metrics.height(), box.width(), metrics.height()),
                   Qt::AlignLeft | Qt::AlignVCenter,
                   metrics.elidedText(detail.text, Qt::ElideRight, box.width()));
}

void LanesPainter::paint_selection(QPainter& painter) const {
  painter.save();
  const Document& document = scene_.content.document();
  const NodeId current = document.selection().current();
  painter.setBrush(Qt::NoBrush);
  std::vector<int> last_column(scene_.layout.lane.size(), -1);
  const auto mark = [&](NodeId node, bool is_measured) {
    paint_mark(painter, scene_.content.row_of(node, is_measured),
               (is_measured ? *scene_.content.measured() : scene_.content.estimated()).extent(node),
               node == current, last_column);
  };
  for (const NodeId node : document.selection().nodes()) {
    mark(node, false);
    if (scene_.content.measured() == nullptr) continue;
    mark(node, true);
    for (const std::uint32_t kernel : document.measured()->kernels_of(node)) {
      const std::int32_t lane = scene_.content.measured()->lane_of_kernel(kernel);
      if (lane < 0) continue;
      const NodeKernel& ran = document.measured()->measurement().kernels[kernel];
      paint_mark(painter, scene_.content.row_of(static_cast<std::size_t>(lane), true),
                 {ran.start_ns, ran.end_ns}, node == current, last_column);
    }
  }
  paint_selected_kernels(painter, last_column);
  painter.restore();
}

// Marks the kernels of the selected nodes, that of the current node last. Each kernel is marked
// once, since nodes of a kernel are often selected together.
void LanesPainter::paint_selected_kernels(QPainter& painter, std::vector<int>& last_column) const {
  const KernelLanes* kernels = scene_.content.kernel_lanes();
  if (kernels == nullptr) return;
  const Selection& selection = scene_.content.document().selection();
  std::vector<std::int32_t> selected;
  for (const NodeId node : selection.nodes())
    if (const std::int32_t kernel = kernels->kernels().row_of(node); kernel >= 0)
      selected.push_back(kernel);
  std::ranges::sort(selected);
  const auto repeated = std::ranges::unique(selected);
  selected.erase(repeated.begin(), repeated.end());
  const std::int32_t current = kernels->kernels().row_of(selection.current());
  const auto mark = [&](std::int32_t kernel) {
    for (const KernelLanes::Place& place : kernels->places(as_index(kernel)))
      paint_mark(painter, scene_.content.row_of_kernels(place.lane), {place.begin, place.end},
                 kernel == current, last_column);
  };
  for (const std::int32_t kernel : selected)
    if (kernel != current) mark(kernel);
  if (current >= 0) mark(current);
}

// Marks a selected node, or one of its kernels, in a row, unless the row is -1 or the node is not
// visible. `last_column`: the column of the last mark in each row. Except for the current node,
// there is one mark per column, since thousands of selected nodes may share it.
void LanesPainter::paint_mark(QPainter& painter, int row, TimelineData::Extent extent,
                              bool is_current, std::vector<int>& last_column) const {
  if (row < 0) return;
  if (static_cast<double>(extent.end) < scene_.axis.begin() ||
      static_cast<double>(extent.begin) > scene_.axis.end())
    return;
  const int x0 = static_cast<int>(std::lround(
      std::max(scene_.axis.to_pixel(static_cast<double>(extent.begin)), scene_.axis.left())));
  const int x1 = std::max(
      static_cast<int>(std::lround(std::min(scene_.axis.to_pixel(static_cast<double>(extent.end)),
                                            scene_.axis.left() + scene_.axis.width()))),
      x0 + 2);
  const QRect& area = scene_.layout.lane[static_cast<std::size_t>(row)];
  int& last = last_column[static_cast<std::size_t>(row)];
  if (!is_current && last == x0) return;
  last = x0;
  painter.fillRect(QRect(x0, area.bottom() - 2, x1 - x0, 3), scene_.theme.accent);
  if (!is_current) return;
  painter.setPen(QPen(scene_.theme.accent, 2));
  painter.drawRect(QRect(x0 - 1, area.top(), x1 - x0 + 1, area.height()));
}

// Paints a tick above each node that a search has found, but only one per pixel column, since
// thousands of nodes may share a column.
void LanesPainter::paint_hits(QPainter& painter) const {
  std::vector<int> last_column(scene_.layout.lane.size(), -1);
  const double begin = scene_.axis.begin(), end = scene_.axis.end();
  for (const NodeId node : scene_.content.document().selection().hits()) {
    if (!scene_.content.document().has(node)) continue;
    const int row = scene_.content.row_of(node, false);
    if (row < 0) continue;
    const auto extent = scene_.content.estimated().extent(node);
    if (static_cast<double>(extent.end) < begin || static_cast<double>(extent.begin) > end)
      continue;
    const double middle = std::clamp(
        (static_cast<double>(extent.begin) + static_cast<double>(extent.end)) / 2, begin, end);
    const int x = static_cast<int>(std::lround(scene_.axis.to_pixel(middle)));
    int& last = last_column[static_cast<std::size_t>(row)];
    if (last == x) continue;
    last = x;
    const QRect& area = scene_.layout.lane[static_cast<std::size_t>(row)];
    painter.fillRect(QRect(x - 2, area.top() - 2, 5, kHitHeight), scene_.theme.surface);
    painter.fillRect(QRect(x - 1, area.top() - 2, 3, kHitHeight - 1), scene_.theme.text);
  }
}

void LanesPainter::paint_flows(QPainter& painter) const {
  const Simulation& s = scene_.content.shown().analysis.simulation;
  painter.save();
  painter.setClipRect(scene_.layout.lanes);
  painter.setRenderHint(QPainter::Antialiasing);
  // Draw the flows that are wide enough to be distinguished, unless there are too many.
  std::vector<const CollectiveTiming*> visible;
  for (const CollectiveTiming& c : s.collectives()) {
    const auto extent = scene_.content.data().extent(c.start);
    if (static_cast<double>(extent.end) < scene_.axis.begin() ||
        static_cast<double>(extent.begin) > scene_.axis.end())
      continue;
    if (static_cast<double>(extent.end - extent.begin) * scene_.axis.pixels_per_unit() <
        kFlowLeastPixels)
      continue;
    visible.push_back(&c);
    if (visible.size() > kMaxFlows) break;
  }
  if (visible.size() <= kMaxFlows) {
    for (const CollectiveTiming* c : visible)
      paint_flow(painter, *c, with_alpha(scene_.theme.muted_text, 0.75F));
  }
  for (const NodeId node : scene_.content.document().selection().nodes().first(
           std::min(scene_.content.document().selection().nodes().size(), kMaxFlows))) {
    const std::int32_t c = s.collective_of(node);
    if (c >= 0)
      paint_flow(painter, s.collectives()[static_cast<std::size_t>(c)], scene_.theme.accent);
  }
  painter.restore();
}

void LanesPainter::paint_flow(QPainter& painter, const CollectiveTiming& c,
                              const QColor& color) const {
  if (!c.wait) return;
  // It is unknown when a collective in a compiled block ran.
  if (scene_.content.is_measured_axis() && scene_.content.document().measured()->block_of(c.start))
    return;
  const int from_row = scene_.content.row_of(c.start, scene_.content.is_measured_axis());
  const int to_row = scene_.content.row_of(std::size_t{1}, scene_.content.is_measured_axis());
  if (from_row < 0 || to_row < 0) return;
  const QRect& from_area = scene_.layout.lane[static_cast<std::size_t>(from_row)];
  const QRect& to_area = scene_.layout.lane[static_cast<std::size_t>(to_row)];
  const auto from = scene_.content.data().extent(c.start);
  const auto to = scene_.content.data().extent(c.wait);
  // On a time axis, the flow leads from the collective's end to the end of its wait; in program
  // order, from its start to the start of its wait.
  const bool in_time = scene_.content.kind() != AxisKind::program_order;
  const QPointF a(scene_.axis.to_pixel(static_cast<double>(in_time ? from.end : from.begin)),
                  from_area.center().y());
  const QPointF b(scene_.axis.to_pixel(static_cast<double>(in_time ? to.end : to.begin)),
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

}  // namespace jointer::views
