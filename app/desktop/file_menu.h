#pragma once

#include <QObject>

#include "app/desktop/closing.h"
#include "app/desktop/menu_context.h"
#include "app/desktop/recipes.h"
#include "app/desktop/workspaces.h"
#include "views/window/recent_files.h"

namespace jointer::desktop {

// Commands that open, save, export and close documents.
class FileMenu : public QObject {
  Q_OBJECT
 public:
  // All arguments but `context` must outlive this object, as must the objects that `context` refers
  // to.
  FileMenu(const MenuContext& context, Workspaces& workspaces, Closing& closing, Recipes& recipes,
           views::RecentFiles& recent);

 public slots:
  void choose_files();
  void open_sample();
  // `entry` is one of the recent files.
  void open_recent(const QString& entry);

 private:
  void fill_recent_menu();
  void fill_sample_menu(QMenu* menu);
  void choose_pair();
  void choose_folder();

  MenuContext context_;
  Workspaces& workspaces_;
  views::RecentFiles& recent_;
  QMenu* recent_menu_ = nullptr;
};

}  // namespace jointer::desktop
