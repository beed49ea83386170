#include "views/differences/plan_difference_table.h"

#include "views/widgets/controls.h"

namespace jointer::views {

PlanDifferenceTable::PlanDifferenceTable(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Changes to the plan"), tr("Filter values"), parent) {
  grouping_ = add_control(controls(), new QComboBox(this), "plan_grouping",
                          tr("Group the values by layer or operator, or list them one by one"),
                          tr("Grouping of values"));
  grouping_->addItems({tr("By layer"), tr("By operator"), tr("By value")});
  connect(grouping_, &QComboBox::currentIndexChanged, this, [this](int index) {
    model_->set_grouping(index == 0   ? PlanDifferenceModel::Grouping(PlanGrouping::layer)
                         : index == 1 ? PlanDifferenceModel::Grouping(PlanGrouping::target)
                                      : std::nullopt);
    view().setRootIsDecorated(index < 2);
  });
}

void PlanDifferenceTable::set(PlanChangesPtr changes) {
  const bool was_empty = model_->row_count() == 0;
  changes_ = std::move(changes);
  request_refresh();
  if (was_empty && model_->row_count() > 0) view().fit_columns();
}

}  // namespace jointer::views
