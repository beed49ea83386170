#pragma once

#include <QFileInfo>
#include <QString>

namespace jointer::desktop {

// The folder that file dialogs start in: where the user last chose a file.
struct LastFolder {
  QString path;

  void remember(const QString& file) { path = QFileInfo(file).absolutePath(); }
};

}  // namespace jointer::desktop
