#pragma once

#include <QAbstractScrollArea>
#include <QEvent>
#include <QObject>

namespace jointer::views {

// Sends the keys W, A, S and D to a view while the pointer is over it, no matter which widget of
// its window has the keyboard focus, as in Perfetto. If that widget edits text, it gets the keys
// itself.
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
  bool is_over_ = false;  // if true, all events of the program pass through this object
};

}  // namespace jointer::views
