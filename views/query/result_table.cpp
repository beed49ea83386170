#include "views/query/result_table.h"

namespace jointer::views {
namespace {

QString before_text() {
  return ResultTable::tr("Run a query to see its rows here.");
}

}  // namespace

ResultTable::ResultTable(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Query"), tr("Filter rows"), parent) {
  setObjectName(QStringLiteral("rows"));
  view().set_flat();
  set_empty_text(before_text());
  connect(&document, &Document::changed, this, &ResultTable::show_age);
}

void ResultTable::show_result(QueryResult result, SnapshotPtr snapshot) {
  queried_ = snapshot;
  view().show_row(-1);  // rows of another query do not stand for the same nodes
  view().sortByColumn(-1, Qt::DescendingOrder);
  model_->set_result(std::move(result), std::move(snapshot));
  set_empty_text(tr("The query returned no rows."));
  view().fit_columns();
  show_age();
}

void ResultTable::clear() {
  show_result({}, document().shared_snapshot());
  queried_.reset();  // there are no rows that could become outdated
  set_empty_text(before_text());
}

void ResultTable::show_age() {
  const bool is_old = queried_ && queried_ != document().shared_snapshot();
  set_headline(is_old ? tr("The graph or its estimates have changed. Run the query again.")
                      : QString());
}

}  // namespace jointer::views
