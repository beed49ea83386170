#pragma once

#include <QWidget>
#include <optional>

#include "views/sac/sac_state.h"

namespace jointer::views {

// Memory over the step as the plan partitions it: forward, then backward with what runs again. As
// ghosts behind it the plan as it was solved, and the joint graph as it was captured, which keeps
// everything. Each is drawn over its own program order, so that starts and ends lie together. A
// click on the peak asks what makes it.
class PlanCurve : public QWidget {
  Q_OBJECT
 public:
  explicit PlanCurve(QWidget* parent = nullptr);

  // Null: nothing is shown.
  void set_state(SacStatePtr state);
  // What is asked about, as a dashed line; null: nothing is.
  void set_what_if(PlanOutcomePtr outcome);
  // Where the peak's mark is.
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
  std::int64_t top_ = 1;
  std::size_t peak_ = 0;
  std::optional<QPoint> hover_;
};

}  // namespace jointer::views
