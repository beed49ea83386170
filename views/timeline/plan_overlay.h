#pragma once

#include <QCoreApplication>
#include <QPainter>
#include <QStringList>
#include <optional>

#include "views/timeline/peak_label.h"
#include "views/timeline/timeline_scene.h"

namespace jointer::views {

// Draws the memory curve of the SAC pane's plan on top of the timeline's: that of the pair or, for
// a flat training step, of the step with its tags applied. During a preview, also draws the curve
// after the previewed change.
class PlanOverlay {
  Q_DECLARE_TR_FUNCTIONS(PlanOverlay)
 public:
  explicit PlanOverlay(const TimelineScene& scene) : scene_(scene) {}

  // The mark at the plan's peak; nullopt if no plan is shown, or if its column is not visible.
  [[nodiscard]] std::optional<QPoint> peak() const { return place_of_peak().mark; }
  // Returns true if the point is on the mark or its label.
  [[nodiscard]] bool is_at_peak(QPoint at) const;
  // Hover text for a pixel column.
  [[nodiscard]] QStringList lines(int x) const;
  void paint(QPainter& painter) const;

 private:
  struct Place {
    std::optional<QPoint> mark;  // as returned by peak()
    PeakLabel label;
  };
  [[nodiscard]] Place place_of_peak() const;
  [[nodiscard]] QString peak_text() const;
  void paint_peak(QPainter& painter, const Place& peak) const;

  const TimelineScene& scene_;
};

}  // namespace jointer::views
