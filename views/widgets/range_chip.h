#pragma once

#include <QToolButton>

#include "views/session/document/document.h"

namespace jointer::views {

// Names the selected range, "Range 12.3–45.6 ms ×", while there is one. A click clears it.
class RangeChip : public QToolButton {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit RangeChip(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void refresh();

  Document& document_;
};

}  // namespace jointer::views
