// The legend of TimelineView: the memory curve's colors, with each category's bytes at the current
// moment.

#include <QPainter>
#include <algorithm>
#include <optional>

#include "views/session/text/node_text.h"
#include "views/session/text/number_text.h"
#include "views/theme/fonts.h"
#include "views/timeline/plan_track.h"
#include "views/timeline/timeline_view.h"

namespace jointer::views {
namespace {

constexpr int kRow = 20, kSwatch = 10, kLineSwatch = 16, kGap = 14, kGutter = 132, kMargin = 12;

}  // namespace

struct TimelineView::LegendEntry {
  std::optional<MemoryCategory> category;  // none for the plan's line
  QString label, bytes;

  [[nodiscard]] QString text() const { return label + "  " + bytes; }
  [[nodiscard]] int swatch() const { return category ? kSwatch : kLineSwatch; }
};

// The categories that occur, and the plan if there is one.
std::vector<TimelineView::LegendEntry> TimelineView::legend_entries() const {
  const MemoryTimeline& memory = document_.analysis().memory;
  const BytesByCategory now = memory.at(document_.moment());
  BytesByCategory ever{};
  for (const Lifetime& l : memory.lifetimes())
    ever[static_cast<std::size_t>(l.category)] += l.bytes;
  std::vector<LegendEntry> entries;
  for (const MemoryCategory category : stacking_order())
    if (const auto i = static_cast<std::size_t>(category); ever[i] > 0)
      entries.push_back({category, category_label(category), bytes_text(now[i])});
  if (const PlanOutcomePtr plan = this->plan(); plan && document_.moment() < data().point_count()) {
    const PlanTrack track(*plan, data());
    const auto begin = static_cast<double>(data().position(document_.moment()));
    entries.push_back(
        {std::nullopt, plan_name(), bytes_text(track.bytes(track.largest_step(begin, begin)))});
  }
  return entries;
}

// Arranges entries in rows of the given width and passes on each entry's left edge. Returns the
// number of rows.
template <class Put>
int TimelineView::place_legend(const QFontMetrics& metrics, int left, int width, Put put) const {
  int x = left, row = 0;
  for (const LegendEntry& entry : legend_entries()) {
    // As wide as the widest number, so that entries do not jump while the moment changes.
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

int TimelineView::legend_height(int width) const {
  const int rows = place_legend(QFontMetrics(small_font(font())), kGutter,
                                width - kGutter - kMargin, [](const LegendEntry&, int, int) {});
  return rows * kRow + 8;
}

void TimelineView::paint_legend(QPainter& painter) const {
  painter.save();
  painter.setFont(small_font(font()));
  const QFontMetrics metrics = painter.fontMetrics();
  const auto paint_entry = [&](const LegendEntry& entry, int x, int row) {
    const int middle = layout_.legend.top() + 4 + row * kRow + kRow / 2;
    const QRect swatch(x, middle - kSwatch / 2, entry.swatch(), kSwatch);
    if (entry.category) {
      const QColor color = theme().category(*entry.category);
      painter.fillRect(swatch, color);
      if (const auto hatch = Theme::hatch(*entry.category); hatch != Qt::NoBrush) {
        QColor line = Theme::text_on(color);
        line.setAlphaF(0.35F);
        painter.fillRect(swatch, QBrush(line, hatch));
      }
    } else {
      painter.fillRect(QRect(x, middle - 1, kLineSwatch, 2), theme().accent);
    }
    painter.setPen(theme().text);
    painter.drawText(QPoint(x + entry.swatch() + 6, middle + metrics.ascent() / 2 - 1),
                     entry.text());
  };
  place_legend(metrics, layout_.legend.left(), layout_.legend.width(), paint_entry);
  const NodeId node = shown().analysis.memory.node_at(document_.moment());
  painter.setPen(theme().muted_text);
  const bool at_peak = document_.moment() == shown().analysis.memory.peak_index();
  const QRect gutter(8, layout_.legend.top() + 4, layout_.gutter - 16, kRow);
  painter.drawText(
      gutter, Qt::AlignLeft | Qt::AlignVCenter,
      metrics.elidedText(at_peak ? tr("at the peak:")
                         : node  ? tr("at %1:").arg(to_qstring(shown().graph.name(node)))
                                 : tr("at the start:"),
                         Qt::ElideMiddle, gutter.width()));
  painter.restore();
}

}  // namespace jointer::views
