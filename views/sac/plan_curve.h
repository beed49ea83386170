#pragma once

#include <QWidget>
#include <optional>

#include "views/session/sac/sac_state.h"

namespace jointer::views {

// Memory during the training step with the plan: the forward, then the backward with recomputation.
// Outlines show the plan as solved and the joint graph as captured, which saves everything, or the
// training step without tags. Each curve uses the program order of its graph; all are scaled to the
// same width. Clicking the peak, or pressing Enter, emits `peak_clicked` if the plan can change.
class PlanCurve : public QWidget {
  Q_OBJECT
 public:
  explicit PlanCurve(QWidget* parent = nullptr);

  // If `state` is null, shows nothing.
  void set_state(SacStatePtr state);
  // Shows a preview as a dashed line, with this name in the legend; null removes it.
  void set_what_if(PlanOutcomePtr outcome, const QString& name);
  // The name of the preview in the legend; empty if there is no preview.
  [[nodiscard]] QString what_if_name() const { return what_if_ ? what_if_name_ : QString(); }
  // The position of the mark for the peak.
  [[nodiscard]] QPoint peak_place() const;
  [[nodiscard]] QSize sizeHint() const override;

 signals:
  void peak_clicked();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  [[nodiscard]] QRect area() const;
  [[nodiscard]] int y_of(std::int64_t bytes) const;
  [[nodiscard]] std::size_t point_at(int x) const;
  [[nodiscard]] bool is_at_peak(QPoint at) const;
  void paint_outline(QPainter& painter, std::span<const std::int64_t> profile, const QColor& color,
                     bool dashed = false) const;
  void paint_legend(QPainter& painter) const;

  SacStatePtr state_;
  PlanOutcomePtr what_if_;
  QString what_if_name_;
  std::int64_t top_ = 1;
  std::size_t peak_ = 0;
  std::optional<QPoint> hover_;
};

}  // namespace jointer::views
