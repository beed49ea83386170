#pragma once

#include <QObject>

#include "app/desktop/menu_context.h"

namespace jointer::desktop {

// Writes the current graph in other programs' formats, and saves a picture of the window.
class ExportMenu : public QObject {
  Q_OBJECT
 public:
  ExportMenu(const MenuContext& context, QMenu* menu, QObject* parent);

 private:
  void export_as(const QString& format, const QString& suffix);
  void save_picture();

  MenuContext context_;
};

}  // namespace jointer::desktop
