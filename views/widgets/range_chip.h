#pragma once

#include <QToolButton>

#include "views/session/document/document.h"

namespace jointer::views {

// The delay before a pane follows a range that is being dragged.
inline constexpr int kRangeDelayMs = 40;

// Names the selected range while there is one: "Range 12.3–45.6 ms ×". A click clears the range.
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
