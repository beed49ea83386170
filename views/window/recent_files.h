#pragma once

#include <QObject>
#include <QSettings>
#include <QStringList>

namespace jointer::views {

// Recently opened files, newest first, stored in the settings. A pair is one entry, with its two
// paths separated by a line break.
class RecentFiles : public QObject {
  Q_OBJECT
 public:
  static constexpr int kMax = 10;

  explicit RecentFiles(QSettings& settings, QObject* parent = nullptr);

  // The entries whose files still exist.
  [[nodiscard]] QStringList list() const;
  void add(const QString& path, const QString& backward);
  void clear();

  static QString forward_of(const QString& entry) { return entry.section(u'\n', 0, 0); }
  static QString backward_of(const QString& entry) { return entry.section(u'\n', 1, 1); }
  // "llama.fw.json.zst + llama.bw.json.zst"
  static QString label(const QString& entry);

 signals:
  void changed();

 private:
  QSettings& settings_;
};

}  // namespace jointer::views
