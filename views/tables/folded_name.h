#pragma once

#include <QCoreApplication>
#include <QString>

namespace jointer::views {

// A row that stands for identical neighbours in a numbered list: "layers.0..31  ×32", as the ladder
// has it. Of a row of its own it is the name. `number`: of the first.
inline QString folded_name(const QString& name, int number, int members) {
  if (members == 1 || number < 0) return name;
  return QCoreApplication::translate("Table", "%1..%2  ×%3")
      .arg(name)
      .arg(number + members - 1)
      .arg(members);
}

}  // namespace jointer::views
