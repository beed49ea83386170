#include "views/differences/difference_table.h"

#include <QSignalBlocker>
#include <algorithm>

#include "views/session/text/number_text.h"
#include "views/widgets/controls.h"

namespace jointer::views {

DifferenceTable::DifferenceTable(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Nodes that differ"), tr("Filter nodes"), parent) {
  view().set_flat();
  kinds_ = add_control(controls(), new QComboBox(this), "kinds", tr("Show only one kind of change"),
                       tr("Kind of change"));
  kinds_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  kinds_->setMinimumContentsLength(11);
  connect(kinds_, &QComboBox::currentIndexChanged, this, [this] {
    const QVariant kind = kinds_->currentData();
    model_->show_only(kind.isValid() ? std::optional(static_cast<NodeChange>(kind.toInt()))
                                     : std::nullopt);
  });
  fill_kinds();
}

void DifferenceTable::show_only(std::optional<NodeChange> change) {
  kinds_->setCurrentIndex(change ? std::max(0, kinds_->findData(static_cast<int>(*change))) : 0);
}

void DifferenceTable::fill_kinds() {
  const QSignalBlocker quiet(kinds_);
  kinds_->clear();
  kinds_->addItem(tr("All changes"));
  if (differences_) {
    const GraphDifference& d = differences_->difference();
    const auto add = [&](NodeChange change, std::size_t count) {
      if (count > 0)
        kinds_->addItem(QStringLiteral("%1 (%2)").arg(change_text(change), count_text(count)),
                        static_cast<int>(change));
    };
    add(NodeChange::moved, d.moved.size());
    add(NodeChange::added, d.added.size());
    add(NodeChange::removed, d.removed.size());
    add(NodeChange::changed, d.changed.size());
    add(NodeChange::retagged, d.retagged.size());
  }
  model_->show_only(std::nullopt);
}

void DifferenceTable::set(NodeDifferencesPtr differences) {
  const bool was_empty = model_->row_count() == 0;
  if (differences == differences_) return request_refresh();
  differences_ = std::move(differences);
  fill_kinds();
  request_refresh();
  if (was_empty && model_->row_count() > 0) view().fit_columns();
}

}  // namespace jointer::views
