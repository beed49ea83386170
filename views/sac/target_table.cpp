#include "views/sac/target_table.h"

#include <QTimer>

#include "views/widgets/controls.h"

namespace jointer::views {

TargetTable::TargetTable(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("List of changes"), tr("Filter: recompute layers.3"), parent) {
  view().setRootIsDecorated(false);
  apply_ = add_control(controls(), new QPushButton(tr("Apply List"), this), "apply_list",
                       tr("Apply all changes in the list as one history entry"));
  set_empty_text(tr(
      "Press Find Changes to search for the shortest list of changes that frees this much memory, "
      "or that lowers the peak to this value."));
}

void TargetTable::show_list(const ChangeList& list, const SnapshotPtr& snapshot) {
  model_->set_list(list, snapshot);
  QTimer::singleShot(0, &view(), &TableView::fit_columns);
  request_refresh();
}

}  // namespace jointer::views
