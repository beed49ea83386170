#pragma once

#include <QKeyEvent>
#include <QObject>

namespace jointer::views {

// Passes letters that a focused number field cannot use to the window's shortcuts, since Qt's
// fields claim all letters.
class NumberKeys : public QObject {
  Q_OBJECT
 public:
  // Acts on all number fields of the application while this object exists.
  explicit NumberKeys(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace jointer::views
