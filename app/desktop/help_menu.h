#pragma once

#include <QObject>
#include <QToolButton>

#include "app/desktop/command_search.h"
#include "app/desktop/menu_context.h"

namespace jointer::desktop {

// Commands by name, the list of keys, and the version.
class HelpMenu : public QObject {
  Q_OBJECT
 public:
  // `search` must outlive this object. `button` opens it.
  HelpMenu(const MenuContext& context, CommandSearch& search, QToolButton& button);

 private:
  void show_keys();
  void show_about();

  MenuContext context_;
};

}  // namespace jointer::desktop
