#include "views/window/pane_dock.h"

namespace jointer::views {

PaneDock::PaneDock(const QString& title, const QString& object_name, DocumentStack::Make make,
                   QWidget* parent)
    : QDockWidget(title, parent), stack_(new DocumentStack(std::move(make), this)) {
  setObjectName(object_name);
  setWidget(stack_);
  stack_->set_seen(false);
  connect(this, &QDockWidget::visibilityChanged, stack_, &DocumentStack::set_seen);
}

}  // namespace jointer::views
