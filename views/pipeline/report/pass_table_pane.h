#pragma once

#include "views/pipeline/report/pass_table_model.h"
#include "views/tables/table_pane.h"

namespace jointer::views {

// A table reported by a pass, such as upstream's log of all collectives, with sortable columns.
// Selecting a row selects its node; the pass's own totals are shown above the rows.
class PassTablePane : public TablePane {
  Q_OBJECT
 public:
  PassTablePane(Document& document, PassTableModel::TablePtr table, QWidget* parent = nullptr);

  [[nodiscard]] PassTableModel& model() { return *model_; }

 private:
  PassTablePane(Document& document, PassTableModel* model, PassTableModel::TablePtr table,
                QWidget* parent);
  void refresh() override;

  PassTableModel* model_;
};

}  // namespace jointer::views
