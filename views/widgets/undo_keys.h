#pragma once

#include <QObject>

namespace jointer::views {

// Lets the keys of Undo and Redo reach the window if the text of the focused field has nothing to
// undo or to redo. By default, Qt's fields claim these keys even then.
class UndoKeys : public QObject {
  Q_OBJECT
 public:
  // Acts on all text and number fields of the application while this object exists.
  explicit UndoKeys(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace jointer::views
