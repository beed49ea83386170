#pragma once

#include <QString>
#include <QStringList>
#include <optional>

namespace jointer::views {

// Some lines of a source file around one of them.
struct SourceExcerpt {
  QString path;   // the file that was read
  int first = 1;  // number of the first line in `lines`
  QStringList lines;
};

// Looks for `file` as it is if that is absolute, and below each of `roots`. Only ordinary files of
// Python source up to 4 MiB are read: a capture says the name, and captures come from anywhere.
// Nothing if there is no such file, or no such line in it.
std::optional<SourceExcerpt> read_excerpt(const QString& file, int line, const QStringList& roots,
                                          int around = 3);

}  // namespace jointer::views
