#pragma once

#include <QString>

namespace jointer::views {

// Returns the text for a button, a tab or a menu entry that shows a name as it is, even if the name
// contains an `&`, which would otherwise underline the next letter.
inline QString button_text(QString name) {
  return name.replace(u'&', QStringLiteral("&&"));
}

}  // namespace jointer::views
