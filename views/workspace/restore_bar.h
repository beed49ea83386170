#pragma once

#include <QFrame>
#include <QString>
#include <QStringList>
#include <cstdint>

namespace jointer::views {

// A quiet line over a graph: what was restored, with what did not fit, to keep or to discard.
class RestoreBar : public QFrame {
  Q_OBJECT
 public:
  RestoreBar(const QString& sentence, const QStringList& refused, bool can_discard,
             QWidget* parent = nullptr);

 signals:
  void kept();
  void discarded();
};

// "Restored 12 edits of llama3_8b from 14:02." With the day where it is not today.
QString restored_text(int edits, const QString& title, std::int64_t changed_at);

}  // namespace jointer::views
