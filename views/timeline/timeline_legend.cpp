#include "views/timeline/timeline_legend.h"

#include <QPainter>
#include <algorithm>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/timeline/plan_track.h"

namespace jointer::views {
namespace {

constexpr int kRow = 20, kSwatch = 10, kLineSwatch = 16, kGap = 14, kGutter = 132, kMargin = 12;

}  // namespace

int TimelineLegend::Entry::swatch() const {
  return category ? kSwatch : kLineSwatch;
}

TimelineLegend::TimelineLegend(const TimelineScene& scene) : scene_(scene) {
  const MemoryTimeline& memory = scene_.content.document().analysis().memory;
  const BytesByCategory now = memory.at(scene_.content.document().moment());
  BytesByCategory ever{};
  for (const Lifetime& l : memory.lifetimes())
    ever[static_cast<std::size_t>(l.category)] += l.bytes;
  for (const MemoryCategory category : stacking_order())
    if (const auto i = static_cast<std::size_t>(category); ever[i] > 0)
      entries_.push_back({category, category_label(category), bytes_text(now[i])});
  if (const PlanOutcomePtr plan = scene_.content.plan();
      plan && scene_.content.document().moment() < scene_.content.data().point_count()) {
    const PlanTrack track(*plan, scene_.content.data());
    const auto begin =
        static_cast<double>(scene_.content.data().position(scene_.content.document().moment()));
    entries_.push_back({std::nullopt, scene_.content.plan_name(),
                        bytes_text(track.bytes(track.largest_step(begin, begin)))});
  }
}

template <class Put>
int TimelineLegend::place(const QFontMetrics& metrics, int left, int width, Put put) const {
  int x = left, row = 0;
  for (const Entry& entry : entries_) {
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
                         [](const Entry&, int, int) {});
  return rows * kRow + 8;
}

void TimelineLegend::paint(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(scene_.font));
  const QFontMetrics metrics = painter.fontMetrics();
  const auto paint_entry = [&](const Entry& entry, int x, int row) {
    const int middle = scene_.layout.legend.top() + 4 + row * kRow + kRow / 2;
    const QRect swatch(x, middle - kSwatch / 2, entry.swatch(), kSwatch);
    if (entry.category) {
      const QColor color = scene_.theme.category(*entry.category);
      painter.fillRect(swatch, color);
      if (const auto hatch = Theme::hatch(*entry.category); hatch != Qt::NoBrush) {
        QColor line = Theme::text_on(color);
        line.setAlphaF(0.35F);
        painter.fillRect(swatch, QBrush(line, hatch));
      }
    } else {
      painter.fillRect(QRect(x, middle - 1, kLineSwatch, 2), scene_.theme.accent);
    }
    painter.setPen(scene_.theme.text);
    painter.drawText(QPoint(x + entry.swatch() + 6, middle + metrics.ascent() / 2 - 1),
                     entry.text());
  };
  place(metrics, scene_.layout.legend.left(), scene_.layout.legend.width(), paint_entry);
  const NodeId node =
      scene_.content.shown().analysis.memory.node_at(scene_.content.document().moment());
  painter.setPen(scene_.theme.muted_text);
  const bool at_peak =
      scene_.content.document().moment() == scene_.content.shown().analysis.memory.peak_index();
  const QRect gutter(8, scene_.layout.legend.top() + 4, scene_.layout.gutter - 16, kRow);
  painter.drawText(
      gutter, Qt::AlignLeft | Qt::AlignVCenter,
      metrics.elidedText(at_peak ? tr("at the peak:")
                         : node
                             ? tr("at %1:").arg(to_qstring(scene_.content.shown().graph.name(node)))
                             : tr("at the start:"),
                         Qt::ElideMiddle, gutter.width()));
  painter.restore();
}

}  // namespace jointer::views
