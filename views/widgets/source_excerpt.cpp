#include "views/widgets/source_excerpt.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

namespace jointer::views {
namespace {

constexpr qint64 kMaxBytes = 4 << 20;
constexpr int kMaxColumns = 200;

std::optional<SourceExcerpt> read(const QString& path, int line, int around) {
  const QFileInfo info(path);
  if (!info.isFile() || info.size() > kMaxBytes || info.suffix() != u"py") return std::nullopt;
  QFile file(path);
  if (!file.open(QIODevice::ReadOnly | QIODevice::Text)) return std::nullopt;
  const QStringList all = QString::fromUtf8(file.read(kMaxBytes)).split(u'\n');
  if (line > all.size()) return std::nullopt;
  SourceExcerpt excerpt{.path = info.absoluteFilePath(), .first = std::max(1, line - around)};
  const auto last = std::min<qsizetype>(all.size(), line + around);
  for (qsizetype i = excerpt.first; i <= last; ++i) excerpt.lines << all[i - 1].left(kMaxColumns);
  return excerpt;
}

}  // namespace

std::optional<SourceExcerpt> read_excerpt(const QString& file, int line, const QStringList& roots,
                                          int around) {
  if (line < 1 || file.isEmpty()) return std::nullopt;
  if (QDir::isAbsolutePath(file)) return read(file, line, around);
  for (const QString& root : roots)
    if (auto excerpt = read(QDir(root).filePath(file), line, around)) return excerpt;
  return std::nullopt;
}

}  // namespace jointer::views
