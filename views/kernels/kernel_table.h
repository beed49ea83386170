#pragma once

#include "views/kernels/kernel_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// A table of the document's ShownKernels. Selecting a row selects the nodes that run in the kernel.
// Alt+Up and Alt+Down move the selected kernel if it is a predicted one; with Shift, as far as
// possible.
class KernelTable : public TablePaneOf<KernelModel> {
  Q_OBJECT
 public:
  explicit KernelTable(Document& document, QWidget* parent = nullptr);

  // The selected row; -1 unless exactly one is selected.
  [[nodiscard]] int selected_row();

 protected:
  void refresh() override;

 private:
  void add_moves();
  // Why there are no rows.
  QString empty_text();

  QList<QAction*> moves_;
  bool is_moving_ = false;  // the user has moved a kernel, and its new row is not shown yet
};

}  // namespace jointer::views
