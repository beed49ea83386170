#pragma once

#include <QString>

#include "views/session/translation/tr.h"

namespace jointer::views {

// The name of a row that stands for identical neighbors in a numbered list, as in the ladder of the
// Graph pane: "layers.0..31  ×32". A single member keeps its own name. `name`, `number`: those of
// the first member.
inline QString folded_name(const QString& name, int number, int members) {
  if (members == 1 || number < 0) return name;
  return tr("%1..%2  ×%3")
      .arg(name, QString::number(number + members - 1), QString::number(members));
}

}  // namespace jointer::views
