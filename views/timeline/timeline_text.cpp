#include "views/timeline/timeline_text.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "core/base/checked.h"
#include "core/base/index.h"
#include "views/session/document/shown_range.h"
#include "views/session/kernels/kernel_text.h"
#include "views/session/text/measured_text.h"
#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/text/range_text.h"
#include "views/session/translation/tr.h"
#include "views/timeline/lane_legend.h"
#include "views/timeline/plan_overlay.h"
#include "views/timeline/timeline_legend.h"
#include "views/widgets/hover_card.h"

namespace jointer::views {
namespace {

// The text for nodes or measured kernels that are folded into a few pixels. Totals are exact,
// however many there are.
QStringList folded_lines(const TimelineContent& content, const Lane& lane, const LaneRun& run) {
  const Snapshot& s = content.shown();
  const auto items = lane.items().subspan(run.first, run.last - run.first);
  QStringList lines;
  const bool has_kernels = items.front().kernel >= 0;
  lines
      << (has_kernels ? tr("%1 kernels here") : tr("%1 nodes here")).arg(count_text(items.size()));
  if (const MeasuredTimeline* m = content.document().measured(); m != nullptr && !has_kernels) {
    std::int64_t both_measured = 0, both_estimated = 0;
    std::size_t count = 0;
    for (const LaneItem& item : items) {
      if (const MeasuredBlock* block = item.block < 0 ? nullptr : m->block_of(item.node)) {
        ++count;
        both_measured += block->own_ns;
        both_estimated += estimated_ns(s, *block);
      } else if (const MeasuredNode* node = m->find(item.node)) {
        const auto ns = measured_ns(s, *node);
        if (!ns) continue;
        ++count;
        both_measured += *ns;
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

// The text for kernels that are folded into a few pixels. In program order, several items can
// belong to one kernel, but not two adjacent ones, so there are at least two kernels.
QStringList folded_kernel_lines(const TimelineContent& content, const Lane& lane,
                                const LaneRun& run) {
  std::set<std::int32_t> kernels;
  for (const LaneItem& item : lane.items().subspan(run.first, run.last - run.first))
    kernels.insert(item.kernel);
  std::int64_t bytes = 0, ns = 0;
  const SnapshotKernels& all = content.kernel_lanes()->kernels();
  for (const std::int32_t row : kernels) {
    bytes = saturating_add(bytes, all.kernel(as_index(row)).bytes);
    ns = saturating_add(ns, all.rows()[as_index(row)].ns);
  }
  const QString count = tr("%1 kernels here").arg(count_text(kernels.size()));
  const QString sum = all.is_measured() ? tr("%1 measured, %2 read and written")
                                        : tr("%1 estimated, %2 read and written");
  return {count, sum.arg(time_text(ns), bytes_text(bytes)),
          tr("kernels %1 to %2")
              .arg(count_text(*kernels.begin() + 1), count_text(*kernels.rbegin() + 1)),
          tr("zoom in (double-click) to see them separately")};
}

// The text for the item at a position; empty if there is none.
QStringList hit_lines(const TimelineScene& scene, const TimelineHit& h, QPoint at) {
  const Snapshot& s = scene.content.shown();
  const MeasuredTimeline* m = scene.content.document().measured();
  if (h.run) {
    const Lane& over = scene.lane(*h.row);
    if (scene.content.rows()[*h.row].has_shown_kernels) {
      if (h.run->is_folded()) return folded_kernel_lines(scene.content, over, *h.run);
      return kernel_card_lines(scene.content.kernel_lanes()->kernels(),
                               as_index(over.items()[h.run->first].kernel));
    }
    if (h.run->is_folded()) return folded_lines(scene.content, over, *h.run);
    const LaneItem& item = over.items()[h.run->first];
    const NodeId node = item.node;
    if (item.block >= 0 && m != nullptr) return measured_lines(s, *m, node);
    if (item.kernel >= 0 && m != nullptr)
      return kernel_lines(s, *m, static_cast<std::size_t>(item.kernel));
    QStringList lines = hover_lines(s, node);
    if (m != nullptr) lines += measured_lines(s, *m, node);
    return lines;
  }
  if (h.point) {
    const std::int64_t estimate = s.analysis.memory.profile()[*h.point];
    const double length = static_cast<double>(scene.content.data().length());
    QStringList lines{scene.content.position_text(
        std::clamp(scene.axis.to_position(at.x()), 0.0, length), 1 / scene.axis.pixels_per_unit())};
    const MeasuredCurve* curve = m == nullptr ? nullptr : &m->curve(scene.content.kind());
    const auto position = static_cast<std::int64_t>(std::floor(scene.axis.to_position(at.x())));
    const auto next = static_cast<std::int64_t>(std::ceil(scene.axis.to_position(at.x() + 1)));
    if (curve != nullptr && !curve->empty() && position < curve->end())
      lines << measured_bytes_text(
          curve->bytes(curve->largest_point(std::max<std::int64_t>(position, 0),
                                            std::max(next, position + 1))),
          estimate);
    else
      lines << bytes_text(estimate);
    if (const NodeId node = s.analysis.memory.node_at(*h.point))
      lines << (MemoryTimeline::is_after_frees(*h.point) ? tr("after %1") : tr("in %1"))
                   .arg(to_qstring(s.graph.name(node)));
    if (const auto category = scene.layout.memory.contains(at)
                                  ? scene.memory_track().category_at(*h.point, at.y())
                                  : std::nullopt)
      lines << QStringLiteral("%1  %2").arg(
          category_label(*category), bytes_text(scene.content.data().bytes(*category, *h.point)));
    lines += PlanOverlay(scene).lines(at.x());
    if (scene.content.shows_reserved())
      lines << tr("reserved %1").arg(bytes_text(scene.content.data().reserved(*h.point)));
    return lines;
  }
  return {};
}

// The texts of the entries that do not fit into the legend under the pointer.
QStringList legend_lines(const TimelineScene& scene, QPoint at) {
  if (scene.layout.legend.contains(at)) return TimelineLegend(scene).left_out();
  if (scene.layout.lane_legend.contains(at)) return LaneLegend(scene).left_out();
  return {};
}

bool runs_on_compute(const Snapshot& s, NodeId id) {
  return s.analysis.simulation.timing(id).stream <= 0 && !s.graph.is_wait(s.graph.node(id));
}

// The measured time of a part of a node, given that part's estimated time.
std::int64_t measured_part(const Snapshot& s, const MeasuredNode& node, std::int64_t part_ns) {
  const std::int64_t whole = s.analysis.costs[node.node.index()].ns;
  if (part_ns >= whole) return node.own_ns;
  return static_cast<std::int64_t>(static_cast<double>(node.own_ns) * static_cast<double>(part_ns) /
                                   static_cast<double>(whole));
}

// The numbers for a range: those that the panes share, unless a held block changes the graph or the
// range is not the document's.
RangeFiguresPtr figures_in(const TimelineContent& content, TimeRange range) {
  const ShownRange& shown = content.document().shown_range();
  const bool is_shared = &content.shown() == &shown.document().snapshot() && shown.range() == range;
  return is_shared ? shown.figures() : range_figures(content.shown(), range);
}

}  // namespace

QString moment_text(const TimelineContent& content, std::size_t moment, double resolution) {
  const std::int64_t estimate = content.shown().analysis.memory.profile()[moment];
  const auto measured = content.measured_bytes(moment);
  return QStringLiteral("%1  %2").arg(
      content.position_text(static_cast<double>(content.data().position(moment)), resolution),
      measured ? measured_bytes_text(*measured, estimate) : bytes_text(estimate));
}

QStringList range_lines(const TimelineContent& content, TimeRange range) {
  const Snapshot& s = content.shown();
  const RangeFiguresPtr shared = figures_in(content, range);
  const RangeFigures& figures = *shared;
  const RangeTotals& totals = figures.totals();
  std::int64_t measured_compute = 0;
  std::vector<const MeasuredBlock*> blocks;
  if (const MeasuredTimeline* measured = content.document().measured()) {
    for (const NodeId id : s.analysis.memory.steps()) {
      if (!figures.contains(id)) continue;
      if (const MeasuredNode* m = measured->find(id); m != nullptr && runs_on_compute(s, id))
        measured_compute += measured_part(s, *m, figures.ns(id));
      if (const MeasuredBlock* block = measured->block_of(id);
          block != nullptr && std::ranges::find(blocks, block) == blocks.end())
        blocks.push_back(block);
    }
  }
  QStringList lines{tr("%1, %2").arg(nodes_text(totals.nodes), time_text(figures.range().length())),
                    measured_compute > 0
                        ? tr("compute: %1").arg(times_text(measured_compute, totals.compute_ns))
                        : tr("compute %1").arg(time_text(totals.compute_ns)),
                    tr("communication %1, exposed %2")
                        .arg(time_text(totals.communication_ns), time_text(totals.exposed_ns)),
                    flops_text(totals.flops),
                    tr("maximum memory %1").arg(bytes_text(totals.peak_bytes)),
                    tr("allocated %1, freed %2")
                        .arg(bytes_text(totals.allocated_bytes), bytes_text(totals.freed_bytes))};
  if (totals.recomputed > 0) lines << recomputed_text(totals.recomputed);
  for (const MeasuredBlock* block : blocks)
    lines << tr("in %1: %2")
                 .arg(block_text(*block), times_text(block->own_ns, estimated_ns(s, *block)));
  return lines;
}

QStringList card_lines(const TimelineScene& scene, QPoint at) {
  const TimelineHit h = hit_timeline(scene, at);
  return h.run || h.point ? hit_lines(scene, h, at) : legend_lines(scene, at);
}

void paint_hover(QPainter& painter, const TimelineScene& scene, QPoint at) {
  QStringList lines = card_lines(scene, at);
  if (lines.isEmpty()) return;
  if (scene.layout.content().contains(at)) {
    painter.setPen(with_alpha(scene.theme.muted_text, 0.5F));
    painter.drawLine(at.x(), scene.layout.ruler.bottom(), at.x(), scene.layout.lanes.bottom());
  }
  if (PlanOverlay(scene).is_at_peak(at))
    lines << tr("click to see what contributes to the plan's peak");
  paint_card(painter, at, scene.viewport, lines, scene.theme);
}

}  // namespace jointer::views
