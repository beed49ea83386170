#pragma once

#include <QString>

namespace jointer::views {

// The text of a button, a tab or a menu entry that shows a name unchanged: an `&` in the name does
// not underline the letter after it.
inline QString button_text(QString name) {
  return name.replace(u'&', QStringLiteral("&&"));
}

}  // namespace jointer::views
