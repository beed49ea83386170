#include "views/query/result_table.h"

namespace jointer::views {

ResultTable::ResultTable(Document& document, QWidget* parent)
    : ResultTable(document, new QueryModel, parent) {}

ResultTable::ResultTable(Document& document, QueryModel* model, QWidget* parent)
    : TablePane(document, *model, tr("Filter rows"), parent), model_(model) {
  model->setParent(this);
  setAccessibleName(tr("Query"));
  setObjectName(QStringLiteral("rows"));
  view().setRootIsDecorated(false);
  view().setItemsExpandable(false);
  set_empty_text(tr("Run a query to see its rows here."));
  connect(&document, &Document::changed, this, &ResultTable::show_age);
}

void ResultTable::show_result(QueryResult result, SnapshotPtr snapshot) {
  queried_ = snapshot;
  view().sortByColumn(-1, Qt::DescendingOrder);
  model_->set_result(std::move(result), std::move(snapshot));
  set_empty_text(tr("The query returned no rows."));
  view().fit_columns();
  show_age();
}

void ResultTable::show_age() {
  const bool is_old = queried_ && queried_ != document().shared_snapshot();
  set_headline(is_old ? tr("The graph or its estimates have changed. Run the query again.")
                      : QString());
}

}  // namespace jointer::views
