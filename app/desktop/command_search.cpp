#include "app/desktop/command_search.h"

namespace jointer::desktop {

using namespace views;

void CommandSearch::open(const QString& text) {
  if (palette_ == nullptr) {
    palette_ = new CommandPalette(&window_);
    connect(palette_, &CommandPalette::node_chosen, this, [this](NodeId /*node*/) {
      documents_.with_timeline([](TimelineView& view) { view.range().show_selection(); });
    });
  }
  palette_->set_actions(window_.findChildren<QAction*>());
  palette_->set_document(documents_.document());
  palette_->open(text);
}

}  // namespace jointer::desktop
