#pragma once

#include <QColor>
#include <QPainter>
#include <QString>
#include <optional>
#include <vector>

#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// The color and the bytes of a category at the current moment, or of a line over the curve.
struct LegendEntry {
  std::optional<MemoryCategory> category;  // none for a line
  QColor color;
  QString label, bytes;

  [[nodiscard]] QString text() const { return label + "  " + bytes; }
  [[nodiscard]] int swatch() const;
};

// The categories that occur, then the measurement and the plan if they are shown.
std::vector<LegendEntry> legend_entries(const TimelineContent& content, const Theme& theme);
// The moment that the bytes belong to: "at mm_12:".
QString legend_title(const TimelineContent& content);

// The legend: the memory curve's colors, with each category's bytes at the current moment.
class TimelineLegend {
 public:
  explicit TimelineLegend(const TimelineScene& scene);
  // The height of the legend in a view of this width.
  [[nodiscard]] int height(int width) const;
  void paint(QPainter& painter) const;

 private:
  // Calls `put` with each entry, its left edge and its row. Returns the number of rows.
  template <class Put>
  int place(const QFontMetrics& metrics, int left, int width, Put put) const;

  const TimelineScene& scene_;
  std::vector<LegendEntry> entries_;
};

}  // namespace jointer::views
