#pragma once

#include <QPointer>
#include <QWidget>

namespace jointer::views {

// Shows where keys go, with a frame around an area of the window, such as a pane, and a thinner one
// around the widget in it that has the keyboard focus. The mark is a child of the area, is drawn
// above the other children, and ignores mouse events.
class FocusMark : public QWidget {
  Q_OBJECT
 public:
  // `focus` must be inside `area`.
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
