#include "views/session/kernels/predicted_kernels.h"

#include <utility>

#include "views/session/kernels/predict_kernels.h"
#include "views/session/open/open_graph.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {

PredictedKernels::PredictedKernels(OpenGraph& open, QObject* parent)
    : QObject(parent), open_(open) {
  soon_.setSingleShot(true);
  soon_.setInterval(0);
  connect(&soon_, &QTimer::timeout, this, &PredictedKernels::start);
  connect(&open_, &OpenGraph::changed, this, &PredictedKernels::follow_graph);
}

void PredictedKernels::watch(const QObject& watcher) {
  if (watchers_.insert(&watcher).second) follow();
}

void PredictedKernels::stop_watching(const QObject& watcher) {
  if (watchers_.erase(&watcher) > 0) follow();
}

bool PredictedKernels::is_current() const {
  return shown_ && shown_->snapshot() == open_.shared_snapshot();
}

void PredictedKernels::follow_graph() {
  const bool was_current = std::exchange(was_current_, is_current());
  if (was_current_ && !was_current) emit changed();
  follow();
}

// Cancels the computation if its result is no longer needed, and starts a new one if it is needed.
void PredictedKernels::follow() {
  const bool is_known = wanted_ == open_.shared_snapshot();
  if (!watchers_.empty() && is_known) return;
  soon_.stop();
  if (finding_.is_running()) {
    finding_.cancel();
    wanted_.reset();
  }
  if (!watchers_.empty()) soon_.start();
}

void PredictedKernels::start() {
  const SnapshotPtr snapshot = open_.shared_snapshot();
  wanted_ = snapshot;
  finding_.start(
      [snapshot](const Cancellation& job) { return predict_kernels(snapshot, job); },
      [this, snapshot](Result<SnapshotKernelsPtr> found) { take(snapshot, std::move(found)); });
}

void PredictedKernels::take(const SnapshotPtr& snapshot, Result<SnapshotKernelsPtr> found) {
  if (snapshot != open_.shared_snapshot()) return follow();
  problem_.clear();
  shown_.reset();
  if (found)
    shown_ = *std::move(found);
  else
    problem_ = to_qstring(found.error().message);
  was_current_ = is_current();
  emit changed();
}

}  // namespace jointer::views
