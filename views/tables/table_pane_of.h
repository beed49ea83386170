#pragma once

#include "views/tables/table_pane.h"

namespace jointer::views {

// A table pane that creates and owns its model.
template <class Model>
class TablePaneOf : public TablePane {
 public:
  [[nodiscard]] Model& model() { return *model_; }

 protected:
  // `name`: the accessible name of the pane.
  TablePaneOf(Document& document, const QString& name, const QString& filter_hint, QWidget* parent)
      : TablePaneOf(document, new Model, filter_hint, parent) {
    setAccessibleName(name);
  }

  Model* const model_;

 private:
  TablePaneOf(Document& document, Model* model, const QString& filter_hint, QWidget* parent)
      : TablePane(document, *model, filter_hint, parent), model_(model) {
    model->setParent(this);
  }
};

}  // namespace jointer::views
