#pragma once

#include <QCoreApplication>
#include <QString>

namespace jointer::views {

// Translates a text outside of a QObject, whose tr() hides this one.
inline QString tr(const char* text) {
  return QCoreApplication::translate("Jointer", text);
}

}  // namespace jointer::views
