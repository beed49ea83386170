#pragma once

#include <QPainter>
#include <QStringList>
#include <vector>

#include "views/theme/theme.h"

namespace jointer::views {

// A color of the timeline and its meaning.
struct LegendEntry {
  enum class Swatch : std::uint8_t { filled, outlined, line };

  QString text;
  QColor color;
  Swatch swatch = Swatch::filled;
  Qt::BrushStyle hatch = Qt::NoBrush;
  // The longest text that the entry may show. Its width is reserved, so that entries stay in place
  // when a text changes.
  QString longest = {};
};

// Lays out entries from left to right, wrapped into rows. If they do not fit into `max_rows`, the
// last row ends with the number of entries left out, such as "+3".
class LegendRows {
 public:
  static constexpr int kRowHeight = 20;

  LegendRows(std::vector<LegendEntry> entries, int max_rows)
      : entries_(std::move(entries)), max_rows_(max_rows) {}

  // The number of rows at this width in pixels; 0 if there are no entries.
  [[nodiscard]] int rows(const QFontMetrics& metrics, int width) const;
  // The texts of the entries that are left out at this width.
  [[nodiscard]] QStringList left_out(const QFontMetrics& metrics, int width) const;
  // Paints with the painter's font, from the top of `area`.
  void paint(QPainter& painter, const QRect& area, const Theme& theme) const;

 private:
  struct Place {
    int x = 0, row = 0;
  };
  // The positions of the first entries, as many as fit.
  [[nodiscard]] std::vector<Place> places(const QFontMetrics& metrics, int width) const;
  [[nodiscard]] int width_of(const LegendEntry& entry, const QFontMetrics& metrics) const;
  static void paint_swatch(QPainter& painter, const LegendEntry& entry, const QRect& row,
                           const Theme& theme);

  std::vector<LegendEntry> entries_;
  int max_rows_;
};

}  // namespace jointer::views
