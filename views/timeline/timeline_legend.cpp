#include "views/timeline/timeline_legend.h"

#include <limits>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/session/translation/tr.h"
#include "views/theme/fonts.h"
#include "views/theme/spacing.h"
#include "views/timeline/plan_track.h"

namespace jointer::views {
namespace {

LegendEntry entry_of(const QString& label, const QString& bytes, const QColor& color,
                     LegendEntry::Swatch swatch, Qt::BrushStyle hatch = Qt::NoBrush) {
  const auto with_bytes = [&](const QString& text) { return label + QStringLiteral("  ") + text; };
  return {with_bytes(bytes), color, swatch, hatch, with_bytes(QStringLiteral("9,999 MiB"))};
}

int max_rows(const TimelineScene& scene) {
  return TimelineLayout::is_low(scene.viewport.height()) ? 1 : std::numeric_limits<int>::max();
}

}  // namespace

std::vector<LegendEntry> legend_entries(const TimelineContent& content, const Theme& theme) {
  std::vector<LegendEntry> entries;
  const MemoryTimeline& memory = content.shown().analysis.memory;
  const std::size_t moment = content.document().moment();
  const BytesByCategory now = memory.at(moment);
  BytesByCategory ever{};
  for (const Lifetime& l : memory.lifetimes())
    ever[static_cast<std::size_t>(l.category)] += l.bytes;
  for (const MemoryCategory category : stacking_order())
    if (const auto i = static_cast<std::size_t>(category); ever[i] > 0)
      entries.push_back(entry_of(category_label(category), bytes_text(now[i]),
                                 theme.category(category), LegendEntry::Swatch::filled,
                                 Theme::hatch(category)));
  if (content.measured_curve() != nullptr) {
    const auto measured = content.measured_bytes(moment);
    entries.push_back(entry_of(tr("measured"),
                               measured ? bytes_text(*measured) : QStringLiteral("\u2013"),
                               theme.text, LegendEntry::Swatch::line));
  }
  if (const PlanOutcomePtr plan = content.plan(); plan && moment < content.data().point_count()) {
    const PlanTrack track(*plan, content.data());
    const auto begin = static_cast<double>(content.data().position(moment));
    entries.push_back(entry_of(content.plan_name(),
                               bytes_text(track.bytes(track.largest_step(begin, begin))),
                               theme.accent, LegendEntry::Swatch::line));
  }
  return entries;
}

QString legend_title(const TimelineContent& content) {
  const MemoryTimeline& memory = content.shown().analysis.memory;
  const std::size_t moment = content.document().moment();
  if (moment == memory.peak_index()) return tr("at the peak:");
  const NodeId node = memory.node_at(moment);
  if (!node) return tr("at the start:");
  return (MemoryTimeline::is_after_frees(moment) ? tr("after %1:") : tr("in %1:"))
      .arg(to_qstring(content.shown().graph.name(node)));
}

TimelineLegend::TimelineLegend(const TimelineScene& scene)
    : scene_(scene), rows_(legend_entries(scene.content, scene.theme), max_rows(scene)) {}

int TimelineLegend::height(int width) const {
  const QFontMetrics metrics(small_font(scene_.font));
  return rows_.rows(metrics, TimelineLayout::axis_width(width)) * LegendRows::kRowHeight + kMargin;
}

QStringList TimelineLegend::left_out() const {
  return rows_.left_out(QFontMetrics(small_font(scene_.font)), scene_.layout.legend.width());
}

void TimelineLegend::paint(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(scene_.font));
  rows_.paint(painter, scene_.layout.legend.adjusted(0, kMargin / 2, 0, -kMargin / 2),
              scene_.theme);
  const QRect gutter(8, scene_.layout.legend.top() + kMargin / 2, scene_.layout.gutter - 16,
                     LegendRows::kRowHeight);
  painter.setPen(scene_.theme.muted_text);
  painter.drawText(gutter, Qt::AlignLeft | Qt::AlignVCenter,
                   painter.fontMetrics().elidedText(legend_title(scene_.content), Qt::ElideMiddle,
                                                    gutter.width()));
  painter.restore();
}

}  // namespace jointer::views
