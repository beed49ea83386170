#pragma once

#include <QLabel>

namespace jointer::views {

// A single line of plain text, elided to fit; the tooltip then shows all of it. It accepts any
// width, so that it does not limit how narrow a pane can be.
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
