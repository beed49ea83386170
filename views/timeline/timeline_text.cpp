#include "views/timeline/timeline_text.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <vector>

#include "views/session/text/measured_text.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/timeline/lane_legend.h"
#include "views/timeline/plan_overlay.h"
#include "views/timeline/timeline_legend.h"
#include "views/widgets/hover_card.h"

namespace jointer::views {
namespace {

QString tr(const char* text) {
  return QCoreApplication::translate("Timeline", text);
}

// Text for nodes folded into a few pixels; totals are exact, however many there are.
QStringList folded_lines(const TimelineContent& content, const Lane& lane, const LaneRun& run) {
  const Snapshot& s = content.shown();
  const auto items = lane.items().subspan(run.first, run.last - run.first);
  QStringList lines;
  lines << tr("%1 nodes here").arg(count_text(items.size()));
  if (const MeasuredTimeline* m = content.document().measured()) {
    std::int64_t both_measured = 0, both_estimated = 0;
    std::size_t count = 0;
    for (const LaneItem& item : items) {
      if (const MeasuredBlock* block = item.block < 0 ? nullptr : m->block_of(item.node)) {
        ++count;
        both_measured += block->own_ns;
        both_estimated += estimated_ns(s, *block);
      } else if (const MeasuredNode* node = m->find(item.node)) {
        ++count;
        both_measured += measured_ns(s, *node);
        both_estimated += estimated_ns(s, item.node);
      }
    }
    if (count > 0)
      lines << (count == items.size() ? times_text(both_measured, both_estimated)
                : count == 1
                    ? tr("%1, for 1 measured node").arg(times_text(both_measured, both_estimated))
                    : tr("%1, for the %2 measured nodes")
                          .arg(times_text(both_measured, both_estimated), count_text(count)));
  }
  if (content.kind() != AxisKind::program_order) {
    const auto times = lane.times(run.first, run.last);
    for (std::size_t c = 0; c < kItemColors; ++c)
      if (times[c] > 0)
        lines << QStringLiteral("%1  %2").arg(time_text(times[c]),
                                              item_label(static_cast<ItemColor>(c)));
  }
  return lines << tr("%1 .. %2")
                      .arg(to_qstring(s.graph.name(items.front().node)),
                           to_qstring(s.graph.name(items.back().node)))
               << tr("zoom in (double-click) to see them separately");
}

// Text for the item at a pixel column; empty if there is nothing.
QStringList hit_lines(const TimelineScene& scene, const TimelineHit& h, int x) {
  const Snapshot& s = scene.content.shown();
  const MeasuredTimeline* m = scene.content.document().measured();
  if (h.run) {
    const Lane& over = scene.lane(*h.row);
    if (h.run->is_folded()) return folded_lines(scene.content, over, *h.run);
    const LaneItem& item = over.items()[h.run->first];
    const NodeId node = item.node;
    if (item.block >= 0 && m != nullptr) return measured_lines(s, *m, node);
    QStringList lines = hover_lines(s, node);
    if (m != nullptr) lines += measured_lines(s, *m, node);
    return lines;
  }
  if (h.point) {
    const std::int64_t estimate = s.analysis.memory.profile()[*h.point];
    QStringList lines;
    const MeasuredCurve* curve = m == nullptr ? nullptr : &m->curve(scene.content.kind());
    const auto position = static_cast<std::int64_t>(std::floor(scene.axis.to_position(x)));
    const auto next = static_cast<std::int64_t>(std::ceil(scene.axis.to_position(x + 1)));
    if (curve != nullptr && !curve->empty() && position < curve->end())
      lines << measured_bytes_text(
          curve->bytes(curve->largest_point(std::max<std::int64_t>(position, 0),
                                            std::max(next, position + 1))),
          estimate);
    else
      lines << bytes_text(estimate);
    if (const NodeId node = s.analysis.memory.node_at(*h.point))
      lines << tr("after %1").arg(to_qstring(s.graph.name(node)));
    lines += PlanOverlay(scene).lines(x);
    if (scene.content.shows_reserved())
      lines << tr("reserved %1").arg(bytes_text(scene.content.data().reserved(*h.point)));
    return lines;
  }
  return {};
}

// The entries that the legend under the pointer has no space for.
QStringList legend_lines(const TimelineScene& scene, QPoint at) {
  if (scene.layout.legend.contains(at)) return TimelineLegend(scene).left_out();
  if (scene.layout.lane_legend.contains(at)) return LaneLegend(scene).left_out();
  return {};
}

}  // namespace

QString moment_text(const TimelineContent& content, std::size_t moment) {
  const std::int64_t estimate = content.shown().analysis.memory.profile()[moment];
  const auto measured = content.measured_bytes(moment);
  return QStringLiteral("%1  %2").arg(
      content.position_text(static_cast<double>(content.data().position(moment))),
      measured ? measured_bytes_text(*measured, estimate) : bytes_text(estimate));
}

QStringList stretch_lines(const TimelineContent& content, Selection::Stretch stretch) {
  const Snapshot& s = content.shown();
  const auto steps = s.analysis.memory.steps();
  const std::size_t last = std::min(stretch.last, steps.size());
  std::int64_t compute = 0, exposed = 0, communication = 0, flops = 0, peak = 0;
  std::int64_t measured_compute = 0;
  const MeasuredTimeline* measured = content.document().measured();
  std::vector<const MeasuredBlock*> blocks;
  const auto profile = s.analysis.memory.profile();
  for (std::size_t step = stretch.first; step < last; ++step) {
    const NodeId id = steps[step];
    const Node& n = s.graph.node(id);
    const NodeTiming& timing = s.analysis.simulation.timing(id);
    const std::int64_t time = timing.end - timing.start;
    if (timing.stream > 0)
      communication += time;
    else if (s.graph.is_wait(n))
      exposed += time;
    else if (timing.stream == 0)
      compute += time;
    if (const MeasuredNode* m = measured ? measured->find(id) : nullptr;
        m != nullptr && timing.stream <= 0 && !s.graph.is_wait(n))
      measured_compute += m->own_ns;
    if (const MeasuredBlock* block = measured ? measured->block_of(id) : nullptr;
        block != nullptr && std::ranges::find(blocks, block) == blocks.end())
      blocks.push_back(block);
    flops += s.analysis.flops[id.index()].total;
    peak = std::max(peak, profile[1 + 2 * step]);
  }
  const auto& time = s.estimated_time;
  const std::int64_t duration = time.position(std::min(2 * last, time.point_count() - 1)) -
                                time.position(1 + 2 * stretch.first);
  const std::size_t count = last - stretch.first;
  QStringList lines{
      tr("%1, %2").arg(count == 1 ? tr("1 step") : tr("%1 steps").arg(count_text(count)),
                       time_text(duration)),
      measured_compute > 0 ? tr("compute: %1").arg(times_text(measured_compute, compute))
                           : tr("compute %1").arg(time_text(compute)),
      tr("communication %1, exposed %2").arg(time_text(communication), time_text(exposed)),
      flops_text(flops), tr("maximum memory %1").arg(bytes_text(peak))};
  for (const MeasuredBlock* block : blocks)
    lines << tr("in %1: %2")
                 .arg(block_text(*block), times_text(block->own_ns, estimated_ns(s, *block)));
  return lines;
}

QStringList card_lines(const TimelineScene& scene, QPoint at) {
  const TimelineHit h = hit_timeline(scene, at);
  return h.run || h.point ? hit_lines(scene, h, at.x()) : legend_lines(scene, at);
}

void paint_hover(QPainter& painter, const TimelineScene& scene, QPoint at) {
  QStringList lines = card_lines(scene, at);
  if (lines.isEmpty()) return;
  if (scene.layout.content().contains(at)) {
    QColor line = scene.theme.muted_text;
    line.setAlphaF(0.5F);
    painter.setPen(line);
    painter.drawLine(at.x(), scene.layout.ruler.bottom(), at.x(), scene.layout.lanes.bottom());
  }
  if (PlanOverlay(scene).is_at_peak(at))
    lines << tr("click to see what contributes to the plan's peak");
  paint_card(painter, at, scene.viewport, lines, scene.theme);
}

}  // namespace jointer::views
