#pragma once

#include "views/pipeline/report/pass_table_model.h"
#include "views/tables/table_pane.h"

namespace jointer::views {

// A table that a pass reported: what upstream logs of each collective, in columns that sort. A row
// selects its node; the pass's own sums stand over it.
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
