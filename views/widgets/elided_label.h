#pragma once

#include <QLabel>

namespace jointer::views {

// A single line of plain text. If it does not fit, it is elided and the tooltip shows all of it.
// The label accepts any width, so that it does not limit how narrow a pane can be.
class ElidedLabel final : public QLabel {
 public:
  explicit ElidedLabel(QWidget* parent = nullptr);

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  [[nodiscard]] QString fitting() const;
};

}  // namespace jointer::views
