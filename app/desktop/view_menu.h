#pragma once

#include <QObject>
#include <QSettings>

#include "app/desktop/menu_context.h"

namespace jointer::desktop {

// Commands for the visible part of the timeline and its legend, the panes and the theme.
class ViewMenu : public QObject {
  Q_OBJECT
 public:
  // `settings`, which stores the theme and whether the lane legend is shown, must outlive this
  // object.
  ViewMenu(const MenuContext& context, QSettings& settings);

 private:
  void add_lane_legend(QMenu* menu);
  void fill_theme_menu(QMenu* menu);

  MenuContext context_;
  QSettings& settings_;
};

}  // namespace jointer::desktop
