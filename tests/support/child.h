#pragma once

#include <QObject>
#include <QString>

namespace jointer::test {

// The part of a window or pane of this type and, if given, with this object name. If there is not
// exactly one, the test program ends with a message.
template <class T>
T& child(const QObject& parent, const char* name = nullptr) {
  const auto found = parent.findChildren<T*>(QString::fromLatin1(name));
  if (found.size() != 1)
    qFatal("%s has %d parts %s `%s`", parent.metaObject()->className(),
           static_cast<int>(found.size()), T::staticMetaObject.className(),
           name == nullptr ? "" : name);
  return *found.front();
}

}  // namespace jointer::test
