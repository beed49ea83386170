#pragma once

#include "views/operators/operator_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The operators with their costs. Selecting a row selects all nodes that call the operator.
class OperatorsPane : public TablePaneOf<OperatorModel> {
  Q_OBJECT
 public:
  explicit OperatorsPane(Document& document, QWidget* parent = nullptr);

 protected:
  void refresh() override;
};

}  // namespace jointer::views
