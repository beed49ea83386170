#pragma once

#include <QToolButton>

#include "views/kernels/kernel_model.h"
#include "views/session/kernels/opened_kernels.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// The predicted kernels of the document or, if the user has opened the artifacts of a compilation,
// those that it has made. Selecting a row selects the nodes that run in the kernel.
class KernelTable : public TablePaneOf<KernelModel> {
  Q_OBJECT
 public:
  explicit KernelTable(Document& document, QWidget* parent = nullptr);

  // -1 if no row is selected.
  [[nodiscard]] int selected_row();
  // The kernels of the rows; null if they are not known yet.
  [[nodiscard]] const SnapshotKernelsPtr& shown();
  [[nodiscard]] const OpenedKernels& opened() const { return opened_; }

 signals:
  // Other kernels are shown, or none.
  void kernels_changed();

 protected:
  void refresh() override;

 private:
  void add_source_menu();
  void open_artifacts(bool is_folder);

  OpenedKernels opened_;
  QToolButton* source_ = nullptr;
  QString last_folder_;
};

}  // namespace jointer::views
