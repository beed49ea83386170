#pragma once

#include <QCoreApplication>
#include <QPainter>

#include "views/timeline/legend_rows.h"
#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// A row below the lanes that names the source of their kernels and explains the colors in them.
class LaneLegend {
  Q_DECLARE_TR_FUNCTIONS(LaneLegend)
 public:
  explicit LaneLegend(const TimelineScene& scene);
  // The height of the legend in a view of this width, in pixels; 0 if it is hidden or has no
  // entries.
  [[nodiscard]] int height(int width) const;
  // The texts of the entries that do not fit.
  [[nodiscard]] QStringList left_out() const;
  void paint(QPainter& painter) const;

 private:
  static std::vector<LegendEntry> entries(const TimelineScene& scene);

  const TimelineScene& scene_;
  LegendRows rows_;
};

}  // namespace jointer::views
