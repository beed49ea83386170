#pragma once

#include <QList>
#include <QString>

namespace jointer::views {

// What keys or the pointer do, under one heading.
struct KeysGroup {
  struct Row {
    QString keys, what;
  };
  QString title;
  QList<Row> rows;
};

}  // namespace jointer::views
