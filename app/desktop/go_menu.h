#pragma once

#include <QObject>

#include "app/desktop/command_search.h"
#include "app/desktop/menu_context.h"

namespace jointer::desktop {

// Commands that go to nodes, panes and documents, or mark moments on the timeline.
class GoMenu : public QObject {
  Q_OBJECT
 public:
  // `search` must outlive this object.
  GoMenu(const MenuContext& context, CommandSearch& search);

 private:
  void add_panes(QMenu* menu);

  MenuContext context_;
};

}  // namespace jointer::desktop
