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

// Reads `file` if it is an absolute path; otherwise looks for it in each of `roots`. Reads only
// regular Python files of up to 4 MiB, since the path is from a capture, which cannot be trusted.
// nullopt if no such file has the line.
std::optional<SourceExcerpt> read_excerpt(const QString& file, int line, const QStringList& roots,
                                          int around = 3);

}  // namespace jointer::views
