#pragma once

#include <QObject>
#include <QSettings>

#include "app/desktop/menu_context.h"

namespace jointer::desktop {

// Commands for the visible part of the timeline, the panes and the theme.
class ViewMenu : public QObject {
  Q_OBJECT
 public:
  // `settings`, which stores the theme, must outlive this object.
  ViewMenu(const MenuContext& context, QSettings& settings);

 private:
  void fill_theme_menu(QMenu* menu);

  MenuContext context_;
  QSettings& settings_;
};

}  // namespace jointer::desktop
