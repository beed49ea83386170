#include "views/window/pane_dock.h"

namespace jointer::views {

PaneDock::PaneDock(const QString& title, const QString& object_name, DocumentStack::Make make,
                   QWidget* parent)
    : QDockWidget(title, parent), stack_(new DocumentStack(std::move(make), this)) {
  setObjectName(object_name);
  setWidget(stack_);
  stack_->set_seen(false);
  connect(this, &QDockWidget::visibilityChanged, stack_, &DocumentStack::set_seen);
  toggleViewAction()->setVisible(false);  // replaced by seen_
  seen_ = new QAction(title, this);
  seen_->setCheckable(true);
  connect(this, &QDockWidget::visibilityChanged, seen_, &QAction::setChecked);
  // Use the actual visibility, not the check mark, since a dock that starts behind another tab
  // emits no signal.
  connect(seen_, &QAction::triggered, this, [this] {
    const bool comes = visibleRegion().isEmpty();
    setVisible(comes);
    if (comes) raise();
    seen_->setChecked(comes);
  });
}

}  // namespace jointer::views
