#pragma once

#include <QTreeWidget>

namespace jointer::views {

// The tables that a query can read, with their columns. Double-clicking a name requests that it be
// inserted into the query.
class SchemaList : public QTreeWidget {
  Q_OBJECT
 public:
  explicit SchemaList(QWidget* parent = nullptr);

 signals:
  void name_chosen(const QString& name);
};

}  // namespace jointer::views
