#pragma once

#include <QComboBox>

#include "views/alive/alive_model.h"
#include "views/tables/table_pane_of.h"

namespace jointer::views {

// Lists the storages that are live at the moment selected in the timeline, or at the peak if none
// is selected. If a range is selected, lists the storages that are live at any time in it, by
// default grouped by whether they are allocated or freed there.
class AlivePane : public TablePaneOf<AliveModel> {
  Q_OBJECT
 public:
  explicit AlivePane(Document& document, QWidget* parent = nullptr);

 protected:
  void refresh() override;
  void changeEvent(QEvent* event) override;

 private:
  void choose_grouping();
  void offer_changes(bool has_range);

  QComboBox* grouping_ = nullptr;
  int grouping_without_range_ = 0;  // index in `grouping_`
  SnapshotPtr shown_;
};

}  // namespace jointer::views
