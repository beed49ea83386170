#include "views/window/recent_files.h"

#include <QFileInfo>

namespace jointer::views {
namespace {

const QString kKey = QStringLiteral("recent");

QString file_name(const QString& path) {
  return QFileInfo(path).fileName();
}

}  // namespace

RecentFiles::RecentFiles(QSettings& settings, QObject* parent)
    : QObject(parent), settings_(settings) {}

QStringList RecentFiles::list() const {
  QStringList existing;
  for (const QString& entry : settings_.value(kKey).toStringList()) {
    const QString backward = backward_of(entry);
    if (QFileInfo::exists(forward_of(entry)) && (backward.isEmpty() || QFileInfo::exists(backward)))
      existing.append(entry);
  }
  return existing;
}

void RecentFiles::add(const QString& path, const QString& backward) {
  const auto absolute = [](const QString& p) { return QFileInfo(p).absoluteFilePath(); };
  QString entry = absolute(path);
  if (!backward.isEmpty()) entry += u'\n' + absolute(backward);
  QStringList entries = settings_.value(kKey).toStringList();
  entries.removeAll(entry);
  entries.prepend(entry);
  while (entries.size() > kMax) entries.removeLast();
  settings_.setValue(kKey, entries);
  emit changed();
}

void RecentFiles::clear() {
  settings_.remove(kKey);
  emit changed();
}

QString RecentFiles::label(const QString& entry) {
  const QString backward = backward_of(entry);
  const QString forward = file_name(forward_of(entry));
  return backward.isEmpty() ? forward : tr("%1 + %2").arg(forward, file_name(backward));
}

}  // namespace jointer::views
