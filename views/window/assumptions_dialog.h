#pragma once

#include <QDialog>
#include <QLineEdit>
#include <QPushButton>

#include "views/session/document/document.h"
#include "views/window/symbol_model.h"

namespace jointer::views {

// Edits the values assumed for a graph's symbolic sizes, one by one or for all unknown sizes at
// once. Apply recomputes memory and time, and so does Enter, unless a value is being typed in the
// table.
class AssumptionsDialog : public QDialog {
  Q_OBJECT
 public:
  explicit AssumptionsDialog(Document& document, QWidget* parent = nullptr);

 private:
  void apply();

  Document& document_;
  SymbolModel* model_ = nullptr;
  QLineEdit* fallback_ = nullptr;
  QPushButton* apply_ = nullptr;
};

}  // namespace jointer::views
