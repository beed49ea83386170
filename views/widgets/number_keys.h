#pragma once

#include <QKeyEvent>
#include <QObject>

namespace jointer::views {

// Lets letters that a focused number field cannot use trigger the window's shortcuts. By default,
// Qt's fields claim all letters.
class NumberKeys : public QObject {
  Q_OBJECT
 public:
  // Acts on all number fields of the application while this object exists.
  explicit NumberKeys(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace jointer::views
