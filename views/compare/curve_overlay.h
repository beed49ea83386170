#pragma once

#include <QWidget>
#include <memory>

#include "views/compare/comparison.h"

namespace jointer::views {

// Draws the memory curves of two states in program order: the first as a thin line, the second as
// an area with increases in a warning color. If space is short, the widget shrinks; if it is too
// low for the curves, it paints nothing.
class CurveOverlay : public QWidget {
  Q_OBJECT
 public:
  explicit CurveOverlay(QWidget* parent = nullptr);

  void set(std::shared_ptr<const Comparison> comparison);
  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::shared_ptr<const Comparison> comparison_;
};

}  // namespace jointer::views
