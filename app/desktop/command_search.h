#pragma once

#include <QObject>
#include <QString>

#include "app/desktop/documents.h"
#include "views/palette/command_palette.h"

namespace jointer::desktop {

// Finds the commands of a window, and the nodes and modules of the current document, by name.
class CommandSearch : public QObject {
  Q_OBJECT
 public:
  // `window` owns the palette. Both arguments must outlive this object.
  CommandSearch(QWidget& window, Documents& documents) : window_(window), documents_(documents) {}

  // Opens the palette with `text` filled in.
  void open(const QString& text);

 private:
  QWidget& window_;
  Documents& documents_;
  views::CommandPalette* palette_ = nullptr;
};

}  // namespace jointer::desktop
