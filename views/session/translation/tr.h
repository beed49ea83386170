#pragma once

#include <QCoreApplication>
#include <QString>

namespace jointer::views {

// Translates a string outside of QObjects. In a QObject, its own tr() hides this function.
inline QString tr(const char* text) {
  return QCoreApplication::translate("Jointer", text);
}

}  // namespace jointer::views
