#include "views/timeline/timeline_legend.h"

#include <QCoreApplication>
#include <QPainter>
#include <algorithm>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/timeline/plan_track.h"

namespace jointer::views {
namespace {

constexpr int kRow = 20, kSwatch = 10, kLineSwatch = 16, kGap = 14, kGutter = 132, kMargin = 12;

QString tr(const char* text) {
  return QCoreApplication::translate("TimelineLegend", text);
}

}  // namespace

int LegendEntry::swatch() const {
  return category ? kSwatch : kLineSwatch;
}

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
      entries.push_back(
          {category, theme.category(category), category_label(category), bytes_text(now[i])});
  if (content.measured_curve() != nullptr) {
    const auto measured = content.measured_bytes(moment);
    entries.push_back({std::nullopt, theme.text, tr("measured"),
                       measured ? bytes_text(*measured) : QStringLiteral("\u2013")});
  }
  if (const PlanOutcomePtr plan = content.plan(); plan && moment < content.data().point_count()) {
    const PlanTrack track(*plan, content.data());
    const auto begin = static_cast<double>(content.data().position(moment));
    entries.push_back({std::nullopt, theme.accent, content.plan_name(),
                       bytes_text(track.bytes(track.largest_step(begin, begin)))});
  }
  return entries;
}

QString legend_title(const TimelineContent& content) {
  const MemoryTimeline& memory = content.shown().analysis.memory;
  const std::size_t moment = content.document().moment();
  if (moment == memory.peak_index()) return tr("at the peak:");
  const NodeId node = memory.node_at(moment);
  return node ? tr("at %1:").arg(to_qstring(content.shown().graph.name(node)))
              : tr("at the start:");
}

TimelineLegend::TimelineLegend(const TimelineScene& scene)
    : scene_(scene), entries_(legend_entries(scene.content, scene.theme)) {}

template <class Put>
int TimelineLegend::place(const QFontMetrics& metrics, int left, int width, Put put) const {
  int x = left, row = 0;
  for (const LegendEntry& entry : entries_) {
    // Reserve the width of the widest number, so that entries do not jump when the moment changes.
    const int entry_width = entry.swatch() + 6 +
                            std::max(metrics.horizontalAdvance(entry.text()),
                                     metrics.horizontalAdvance(entry.label + "  9,999 MiB")) +
                            kGap;
    if (x > left && x + entry_width > left + width) {
      x = left;
      ++row;
    }
    put(entry, x, row);
    x += entry_width;
  }
  return row + 1;
}

int TimelineLegend::height(int width) const {
  const int rows = place(QFontMetrics(small_font(scene_.font)), kGutter, width - kGutter - kMargin,
                         [](const LegendEntry&, int, int) {});
  return rows * kRow + 8;
}

void TimelineLegend::paint(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(scene_.font));
  const QFontMetrics metrics = painter.fontMetrics();
  const auto paint_entry = [&](const LegendEntry& entry, int x, int row) {
    const int middle = scene_.layout.legend.top() + 4 + row * kRow + kRow / 2;
    const QRect swatch(x, middle - kSwatch / 2, entry.swatch(), kSwatch);
    if (entry.category) {
      painter.fillRect(swatch, entry.color);
      if (const auto hatch = Theme::hatch(*entry.category); hatch != Qt::NoBrush) {
        QColor line = Theme::text_on(entry.color);
        line.setAlphaF(0.35F);
        painter.fillRect(swatch, QBrush(line, hatch));
      }
    } else {
      painter.fillRect(QRect(x, middle - 1, kLineSwatch, 2), entry.color);
    }
    painter.setPen(scene_.theme.text);
    painter.drawText(QPoint(x + entry.swatch() + 6, middle + metrics.ascent() / 2 - 1),
                     entry.text());
  };
  place(metrics, scene_.layout.legend.left(), scene_.layout.legend.width(), paint_entry);
  painter.setPen(scene_.theme.muted_text);
  const QRect gutter(8, scene_.layout.legend.top() + 4, scene_.layout.gutter - 16, kRow);
  painter.drawText(
      gutter, Qt::AlignLeft | Qt::AlignVCenter,
      metrics.elidedText(legend_title(scene_.content), Qt::ElideMiddle, gutter.width()));
  painter.restore();
}

}  // namespace jointer::views
