#pragma once

#include <QLabel>

namespace jointer::views {

// One line of plain text that says where it is cut off; all of it is its tooltip then. It takes any
// width, so that it keeps no pane from being narrow.
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
