#pragma once

#include <QFileInfo>
#include <QString>

namespace jointer::desktop {

// The folder in which file dialogs start: the folder that the user last chose, or that of the last
// chosen file.
struct LastFolder {
  QString path;

  void remember(const QString& file) { path = QFileInfo(file).absolutePath(); }
};

}  // namespace jointer::desktop
