#pragma once

#include <QObject>
#include <QToolButton>

#include "app/desktop/command_search.h"
#include "app/desktop/first_minutes.h"
#include "app/desktop/menu_context.h"

namespace jointer::desktop {

// The command palette, the list of keys, the questions for new users, and the version.
class HelpMenu : public QObject {
  Q_OBJECT
 public:
  // Clicking `button` opens the command palette. `search` and `first_minutes` must outlive this
  // object.
  HelpMenu(const MenuContext& context, CommandSearch& search, FirstMinutes& first_minutes,
           QToolButton& button);

 private:
  void show_keys();
  void show_about();

  MenuContext context_;
};

}  // namespace jointer::desktop
