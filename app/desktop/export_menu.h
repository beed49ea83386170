#pragma once

#include <QObject>

#include "app/desktop/menu_context.h"

namespace jointer::desktop {

struct ExportFormat;

// Commands that export the current graph to other formats, or save a screenshot of the window.
class ExportMenu : public QObject {
  Q_OBJECT
 public:
  ExportMenu(const MenuContext& context, QMenu* menu, QObject* parent);

 private:
  void export_as(const ExportFormat& format);
  void save_picture();

  MenuContext context_;
};

}  // namespace jointer::desktop
