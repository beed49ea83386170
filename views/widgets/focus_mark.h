#pragma once

#include <QPointer>
#include <QWidget>

namespace jointer::views {

// Marks where keys go: a frame around an area of the window, such as a pane, and a thinner one
// around the widget in it that has the keyboard focus. A child of the area, drawn above its other
// children; it ignores mouse events.
class FocusMark : public QWidget {
  Q_OBJECT
 public:
  // `focus` must be in `area`.
  FocusMark(QWidget& area, QWidget& focus);

  [[nodiscard]] const QWidget* area() const { return parentWidget(); }

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void place();

  QPointer<QWidget> focus_;  // may be deleted before the mark
};

}  // namespace jointer::views
