#include "views/session/snapshot/state_queue.h"

#include <QtConcurrentRun>

namespace jointer::views {

StateQueue::StateQueue(DocumentState state, QObject* parent)
    : QObject(parent), state_(std::move(state)) {
  connect(&watcher_, &QFutureWatcherBase::finished, this, &StateQueue::finish);
}

void StateQueue::add(Job job, Done done) {
  jobs_.push_back({std::move(job), std::move(done)});
  if (jobs_.size() == 1) start();
}

void StateQueue::add_replacing(Job job, Done done) {
  for (Entry& entry : jobs_) entry.dropped |= entry.replaceable;
  jobs_.push_back({.job = std::move(job), .done = std::move(done), .replaceable = true});
  if (jobs_.size() == 1) start();
}

void StateQueue::start() {
  watcher_.setFuture(QtConcurrent::run(
      [job = jobs_.front().job, state = state_]() -> Result<DocumentState> { return job(state); }));
}

void StateQueue::finish() {
  const Entry entry = std::move(jobs_.front());
  jobs_.pop_front();
  const Result<DocumentState> result = watcher_.result();
  while (!jobs_.empty() && jobs_.front().dropped) jobs_.pop_front();
  const bool takes = result && !entry.dropped;
  if (takes) state_ = *result;
  // The callback may add jobs. The next job must have been started by then, or it would be started
  // twice.
  if (!jobs_.empty()) start();
  if (!entry.dropped && entry.done)
    entry.done(result ? Result<void>() : tl::unexpected(result.error()));
  if (!takes) return;
  emit changed();
  emit shown();
}

}  // namespace jointer::views
