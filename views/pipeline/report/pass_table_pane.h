#pragma once

#include "views/pipeline/report/pass_table_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// A table reported by a pass, such as upstream's log of all collectives, with sortable columns.
// Selecting a row selects its node; the pass's own totals are shown above the rows.
class PassTablePane : public TablePaneOf<PassTableModel> {
  Q_OBJECT
 public:
  PassTablePane(Document& document, PassTableModel::TablePtr table, QWidget* parent = nullptr);

 private:
  void refresh() override { model_->set_shown(document().shared_snapshot()); }
};

}  // namespace jointer::views
