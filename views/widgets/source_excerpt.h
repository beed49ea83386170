#pragma once

#include <QString>
#include <QStringList>
#include <optional>

namespace jointer::views {

// Lines of a source file around a given line.
struct SourceExcerpt {
  QString path;   // the file that was read
  int first = 1;  // number of the first line in `lines`
  QStringList lines;
};

// Looks for `file` as given if its path is absolute, or else below each of `roots`. Reads only
// regular Python files up to 4 MiB, since the name is from a capture, which may come from anywhere.
// nullopt if the file or line does not exist.
std::optional<SourceExcerpt> read_excerpt(const QString& file, int line, const QStringList& roots,
                                          int around = 3);

}  // namespace jointer::views
