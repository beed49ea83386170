#include "views/session/snapshot/state_queue.h"

namespace jointer::views {

StateQueue::StateQueue(DocumentState state, QObject* parent)
    : QObject(parent), state_(std::move(state)) {}

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
  task_.start([job = jobs_.front().job, state = state_] { return job(state); },
              [this](const Result<DocumentState>& result) { finish(result); });
}

void StateQueue::finish(const Result<DocumentState>& result) {
  const Entry entry = std::move(jobs_.front());
  jobs_.pop_front();
  while (!jobs_.empty() && jobs_.front().dropped) jobs_.pop_front();
  const bool takes = result && !entry.dropped;
  if (takes) state_ = *result;
  // The callback may add jobs, so start the next job first; otherwise it would be started twice.
  if (!jobs_.empty()) start();
  if (!entry.dropped && entry.done)
    entry.done(result ? Result<void>() : tl::unexpected(result.error()));
  if (!takes) return;
  emit changed();
  emit shown();
}

}  // namespace jointer::views
