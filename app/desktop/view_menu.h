#pragma once

#include <QObject>
#include <QSettings>

#include "app/desktop/menu_context.h"
#include "views/timeline/timeline_content.h"

namespace jointer::desktop {

// Commands that choose what the timeline shows, which panes are shown, their layout, and the theme.
class ViewMenu : public QObject {
  Q_OBJECT
 public:
  // `settings`, which stores the theme and the choices for the timeline, must outlive this object.
  ViewMenu(const MenuContext& context, QSettings& settings);

 private:
  void add_timeline_choice(QMenu* menu, const QString& text, const QString& name, bool is_default,
                           void (views::TimelineContent::*set_shown)(bool));
  void fill_theme_menu(QMenu* menu);

  MenuContext context_;
  QSettings& settings_;
};

}  // namespace jointer::desktop
