#pragma once

#include <QPainter>
#include <QString>
#include <QStringList>
#include <vector>

#include "views/timeline/legend_rows.h"
#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// The entries of the memory curve's legend, with the bytes at the current moment: the categories
// that occur, then the measurement and the plan if they are shown.
std::vector<LegendEntry> legend_entries(const TimelineContent& content, const Theme& theme);
// The label that names the current moment: "at the peak:", "at the start:", "in mm_12:" or, after
// the node's releases, "after mm_12:".
QString legend_title(const TimelineContent& content);

// The legend of the memory curve. In a low view, it has one row.
class TimelineLegend {
 public:
  explicit TimelineLegend(const TimelineScene& scene);
  // The height of the legend in a view of this width, in pixels.
  [[nodiscard]] int height(int width) const;
  // The texts of the entries that do not fit.
  [[nodiscard]] QStringList left_out() const;
  void paint(QPainter& painter) const;

 private:
  const TimelineScene& scene_;
  LegendRows rows_;
};

}  // namespace jointer::views
