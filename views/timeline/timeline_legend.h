#pragma once

#include <QCoreApplication>
#include <QPainter>
#include <optional>
#include <vector>

#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// The legend: the memory curve's colors, with each category's bytes at the current moment.
class TimelineLegend {
  Q_DECLARE_TR_FUNCTIONS(TimelineLegend)
 public:
  explicit TimelineLegend(const TimelineScene& scene);
  // The height of the legend in a view of this width.
  [[nodiscard]] int height(int width) const;
  void paint(QPainter& painter) const;

 private:
  struct Entry {
    std::optional<MemoryCategory> category;  // none for the plan's line
    QString label, bytes;

    [[nodiscard]] QString text() const { return label + "  " + bytes; }
    [[nodiscard]] int swatch() const;
  };
  // Calls `put` with each entry, its left edge and its row. Returns the number of rows.
  template <class Put>
  int place(const QFontMetrics& metrics, int left, int width, Put put) const;

  const TimelineScene& scene_;
  std::vector<Entry> entries_;  // the categories that occur, and the plan if there is one
};

}  // namespace jointer::views
