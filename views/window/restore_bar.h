#pragma once

#include <QFrame>
#include <QString>
#include <QStringList>
#include <cstdint>

namespace jointer::views {

// A bar above a graph that says what was restored and what was skipped, with buttons to keep or
// discard it.
class RestoreBar : public QFrame {
  Q_OBJECT
 public:
  RestoreBar(const QString& sentence, const QStringList& refused, bool can_discard,
             QWidget* parent = nullptr);

 signals:
  void kept();
  void discarded();
};

// "Restored 12 edits of llama3_8b from 14:02.", with the date unless it is today.
QString restored_text(int edits, const QString& title, std::int64_t changed_at);

}  // namespace jointer::views
