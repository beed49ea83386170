#pragma once

#include <QMenuBar>

#include "app/desktop/action_set.h"
#include "app/desktop/documents.h"
#include "app/desktop/last_folder.h"
#include "app/desktop/pane_docks.h"
#include "app/desktop/pane_focus.h"
#include "app/desktop/status_line.h"

namespace jointer::desktop {

// The parts of the window that menu commands use. All of them outlive the menus.
struct MenuContext {
  QWidget& window;  // the parent of dialogs
  QMenuBar& bar;
  ActionSet& actions;
  Documents& documents;
  PaneDocks& panes;
  PaneFocus& focus;
  StatusLine& status;
  LastFolder& folder;
};

}  // namespace jointer::desktop
