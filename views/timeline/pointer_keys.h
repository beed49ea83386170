#pragma once

#include <QAbstractScrollArea>
#include <QObject>

namespace jointer::views {

// Gives a view the keys W, A, S and D while the pointer is over it, whichever widget of its window
// has the keyboard focus, as in Perfetto. While text is being edited, the keys go to the text.
class PointerKeys : public QObject {
  Q_OBJECT
 public:
  // `view` must outlive this object.
  explicit PointerKeys(QAbstractScrollArea& view);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void watch_pointer(QEvent::Type type);
  bool redirect(QWidget& focused, QKeyEvent& event);

  QAbstractScrollArea& view_;
  bool is_over_ = false;  // while it is true, all events of the program pass through this object
};

}  // namespace jointer::views
