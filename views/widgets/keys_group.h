#pragma once

#include <QList>
#include <QString>

namespace jointer::views {

// Keys or mouse actions and their effects, under one heading.
struct KeysGroup {
  struct Row {
    QString keys, what;
  };
  QString title;
  QList<Row> rows;
};

}  // namespace jointer::views
