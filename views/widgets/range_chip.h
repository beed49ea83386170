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

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void refresh();
  void take_colors();

  Document& document_;
};

}  // namespace jointer::views
