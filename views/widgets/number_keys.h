#pragma once

#include <QKeyEvent>
#include <QObject>

namespace jointer::views {

// Gives the window's shortcuts the letters that a focused number field cannot use. Qt's fields claim
// all letters.
class NumberKeys : public QObject {
  Q_OBJECT
 public:
  // Acts on the fields of the application as long as it exists.
  explicit NumberKeys(QObject* parent);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace jointer::views
