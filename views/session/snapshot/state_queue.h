#pragma once

#include <QObject>
#include <deque>
#include <functional>

#include "views/session/snapshot/snapshot.h"
#include "views/session/work/task.h"

namespace jointer::views {

// A document's graph in its current state and as opened, analyzed with the same options. Without
// edits, both are the same object.
struct DocumentState {
  SnapshotPtr now, baseline;
};

// Runs jobs on a worker thread, one at a time. Each receives the state left by the previous one.
class StateQueue : public QObject {
  Q_OBJECT
 public:
  using Job = std::function<Result<DocumentState>(const DocumentState& state)>;
  // Receives the job's error, or success once the job's state is current, before `changed` is
  // emitted.
  using Done = std::function<void(const Result<void>& result)>;

  explicit StateQueue(DocumentState state, QObject* parent = nullptr);

  [[nodiscard]] const DocumentState& state() const { return state_; }

  void add(Job job, Done done = {});
  // Like `add`, but replaces unfinished jobs that were added by this function: their results are
  // discarded and their callbacks are not called.
  void add_replacing(Job job, Done done = {});

 signals:
  void changed();
  // Emitted after all receivers of `changed` have run.
  void shown();

 private:
  struct Entry {
    Job job;
    Done done;
    bool replaceable = false, dropped = false;
  };
  void start();
  void finish(const Result<DocumentState>& result);

  DocumentState state_;
  std::deque<Entry> jobs_;  // the first one is running
  Task<DocumentState> task_;
};

}  // namespace jointer::views
