#pragma once

#include <QFrame>
#include <QString>
#include <QStringList>
#include <cstdint>

namespace jointer::views {

// A bar above a graph. Says what was restored and what was skipped, or why nothing was restored.
// Its buttons keep or discard the restored work; if it cannot be discarded, there is only Close.
class RestoreBar : public QFrame {
  Q_OBJECT
 public:
  RestoreBar(const QString& sentence, const QStringList& refused, bool can_discard,
             QWidget* parent = nullptr);

 signals:
  void kept();
  void discarded();
};

// The work that was restored from a journal: the numbers of edits, undone edits, named states,
// marks and moves of kernels, whether there is a pipeline, and whether the options and assumptions
// of the estimates differ from those without the journal.
struct RestoredWork {
  int edits = 0, undone = 0, states = 0, marks = 0, kernel_moves = 0;
  bool has_pipeline = false, has_options = false, has_assumptions = false;
};

// "Restored 12 edits of llama3_8b, last changed at 14:02.", with the date unless it is today.
// `changed_at`: in seconds since 1970; 0 if not known. Empty if there was nothing to restore.
QString restored_text(const RestoredWork& work, const QString& title, std::int64_t changed_at);

}  // namespace jointer::views
