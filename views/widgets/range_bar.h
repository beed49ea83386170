#pragma once

#include <QTimer>
#include <QWidget>

#include "views/widgets/elided_label.h"
#include "views/widgets/range_chip.h"

namespace jointer::views {

// The selected range above a pane that shows its totals: a chip that names and clears it, then a
// note that says whether it is a range of the joint graph as partitioned, and how many of its nodes
// are recomputed, since these count every time they run. Hidden while there is no range.
class RangeBar : public QWidget {
  Q_OBJECT
 public:
  // `document` must outlive this object. `margin`: on the left and right, in pixels.
  RangeBar(Document& document, int margin, QWidget* parent = nullptr);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void refresh();
  void update_note();

  Document& document_;
  ElidedLabel* note_ = nullptr;
  QTimer note_delay_;  // delay before the note follows a range that is being dragged
};

}  // namespace jointer::views
