#pragma once

#include <QFutureWatcher>
#include <QObject>
#include <deque>
#include <functional>

#include "views/document/snapshot.h"

namespace jointer::views {

// A document's graph as it is now and as it was opened, both computed alike. Until something is
// edited, the two are one.
struct DocumentState {
  SnapshotPtr now, baseline;
};

// Jobs on a working thread, one after another: each is given the state that the one before it left.
class StateQueue : public QObject {
  Q_OBJECT
 public:
  using Job = std::function<Result<DocumentState>(const DocumentState& state)>;
  // Told on this thread, before `changed`, once the state is the job's; or why it is not.
  using Done = std::function<void(const Result<void>& result)>;

  explicit StateQueue(DocumentState state, QObject* parent = nullptr);

  [[nodiscard]] const DocumentState& state() const { return state_; }

  void add(Job job, Done done = {});
  // In place of one that was added by this function and has not ended: its result is never looked
  // at, and nobody is told of it.
  void add_replacing(Job job, Done done = {});

 signals:
  void changed();
  // Whoever heard of `changed` has looked.
  void shown();

 private:
  struct Entry {
    Job job;
    Done done;
    bool replaceable = false, dropped = false;
  };
  void start();
  void finish();

  DocumentState state_;
  std::deque<Entry> jobs_;  // the first one runs
  QFutureWatcher<Result<DocumentState>> watcher_;
};

}  // namespace jointer::views
