#pragma once

#include <QWidget>
#include <memory>

#include "views/compare/comparison.h"

namespace jointer::views {

// The memory curves of two states over each other, in program order: the first as a thin line, the
// second as an area, and what the second takes more in a warning colour.
class CurveOverlay : public QWidget {
  Q_OBJECT
 public:
  explicit CurveOverlay(QWidget* parent = nullptr);

  void set(std::shared_ptr<const Comparison> comparison);

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  std::shared_ptr<const Comparison> comparison_;
};

}  // namespace jointer::views
