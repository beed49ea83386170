#pragma once

#include "views/operators/operator_model.h"
#include "views/tables/table_pane.h"

namespace jointer::views {

// The operators with their costs. Selecting a row selects all nodes that call the operator.
class OperatorsPane : public TablePane {
  Q_OBJECT
 public:
  explicit OperatorsPane(Document& document, QWidget* parent = nullptr);

  [[nodiscard]] OperatorModel& model() { return *model_; }

 protected:
  void refresh() override;

 private:
  OperatorsPane(Document& document, OperatorModel* model, QWidget* parent);

  OperatorModel* model_;
};

}  // namespace jointer::views
