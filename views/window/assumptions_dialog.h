#pragma once

#include <QDialog>
#include <QLineEdit>

#include "views/document/document.h"
#include "views/window/symbol_model.h"

namespace jointer::views {

// Which numbers stand for a graph's symbolic sizes. They can be edited one by one, or all that the
// capture does not know at once; Apply computes memory and time anew.
class AssumptionsDialog : public QDialog {
  Q_OBJECT
 public:
  explicit AssumptionsDialog(Document& document, QWidget* parent = nullptr);

 private:
  void apply();

  Document& document_;
  SymbolModel* model_ = nullptr;
  QLineEdit* fallback_ = nullptr;
};

}  // namespace jointer::views
