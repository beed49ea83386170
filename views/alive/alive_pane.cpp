#include "views/alive/alive_pane.h"

#include <QEvent>

#include "views/session/document/shown_range.h"
#include "views/widgets/controls.h"

namespace jointer::views {

AlivePane::AlivePane(Document& document, QWidget* parent)
    : TablePaneOf(document, tr("Alive Now"), tr("Filter tensors"), parent) {
  model_->set_theme(Theme::of(palette()));
  grouping_ = add_control(controls(), new QComboBox(this), nullptr, {}, tr("Grouping"));
  grouping_->addItem(tr("By size"), static_cast<int>(AliveModel::Grouping::none));
  grouping_->addItem(tr("By module"), static_cast<int>(AliveModel::Grouping::module));
  grouping_->addItem(tr("By category"), static_cast<int>(AliveModel::Grouping::category));
  connect(grouping_, &QComboBox::currentIndexChanged, this, &AlivePane::choose_grouping);
  view().setRootIsDecorated(false);
  view().setColumnHidden(AliveModel::change_column, true);
  follow_timeline();
  set_empty_text(tr("No tensors are live here. Select another moment or range in the timeline."));
}

void AlivePane::choose_grouping() {
  const auto grouping = static_cast<AliveModel::Grouping>(grouping_->currentData().toInt());
  model_->set_grouping(grouping);
  view().setRootIsDecorated(grouping != AliveModel::Grouping::none);
}

// Groups by change while a range is selected, unless the user chooses another grouping.
void AlivePane::offer_changes(bool has_range) {
  const int change = grouping_->findData(static_cast<int>(AliveModel::Grouping::change));
  view().setColumnHidden(AliveModel::change_column, !has_range);
  if (has_range == (change >= 0)) return;
  if (has_range) {
    grouping_without_range_ = grouping_->currentIndex();
    grouping_->addItem(tr("By change"), static_cast<int>(AliveModel::Grouping::change));
    grouping_->setCurrentIndex(grouping_->count() - 1);
  } else {
    grouping_->setCurrentIndex(grouping_without_range_);
    grouping_->removeItem(change);
  }
}

void AlivePane::refresh() {
  const SnapshotPtr snapshot = subject().shared_snapshot();
  const ShownRange& shown = document().shown_range();
  const RangeFiguresPtr figures = shown.range() ? shown.figures() : nullptr;
  if (snapshot == shown_) model_->set_figures(figures);
  offer_changes(figures != nullptr);
  if (snapshot == shown_)
    model_->set_moment(subject().moment());
  else
    model_->set_snapshot(snapshot, subject().moment(), figures);
  shown_ = snapshot;
  // With a range, the bar above the table already says so.
  const bool is_partitioned = &subject() != &document() && figures == nullptr;
  set_headline(is_partitioned ? tr("As partitioned. %1").arg(model_->sentence())
                              : model_->sentence());
}

void AlivePane::changeEvent(QEvent* event) {
  TablePane::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) model_->set_theme(Theme::of(palette()));
}

}  // namespace jointer::views
