#include "views/query/schema_list.h"

#include <QHeaderView>

#include "core/query/query_schema.h"
#include "views/session/text/node_text.h"

namespace jointer::views {

SchemaList::SchemaList(QWidget* parent) : QTreeWidget(parent) {
  setObjectName(QStringLiteral("schema"));
  setAccessibleName(tr("Tables"));
  setColumnCount(2);
  setHeaderHidden(true);
  setFrameShape(QFrame::NoFrame);
  setTextElideMode(Qt::ElideRight);
  setExpandsOnDoubleClick(false);
  for (const QueryTable& table : query_schema()) {
    auto* item = new QTreeWidgetItem(this, {to_qstring(table.name), to_qstring(table.meaning)});
    for (const QueryColumn& column : table.columns)
      new QTreeWidgetItem(item, {to_qstring(column.name), to_qstring(column.meaning)});
  }
  for (QTreeWidgetItemIterator at(this); *at != nullptr; ++at) {
    (*at)->setToolTip(0, (*at)->text(1));
    (*at)->setToolTip(1, (*at)->text(1));
    (*at)->setForeground(1, palette().placeholderText());
  }
  header()->setSectionResizeMode(0, QHeaderView::ResizeToContents);
  connect(this, &QTreeWidget::itemActivated, this,
          [this](const QTreeWidgetItem* item) { emit name_chosen(item->text(0)); });
}

}  // namespace jointer::views
