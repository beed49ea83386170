#pragma once

#include <QWidget>

namespace jointer::views {

// A line along the top of a pane, which is shown while the pane has the keyboard focus. The pane's
// layout leaves room for it.
class FocusLine : public QWidget {
  Q_OBJECT
 public:
  explicit FocusLine(QWidget& pane);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void place();
  void follow(const QWidget* focused);

  QWidget& pane_;
};

}  // namespace jointer::views
