#include "views/session/kernels/asked_kernels.h"

#include <utility>

#include "views/session/open/open_graph.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {

AskedKernels::AskedKernels(OpenGraph& open, QObject* parent) : QObject(parent), open_(open) {
  pool_.setMaxThreadCount(1);
  connect(&open_, &OpenGraph::changed, this, &AskedKernels::follow);
}

AskedKernels::~AskedKernels() {
  asking_.cancel();
  wait_on_close(pool_);
}

void AskedKernels::ask() {
  progress_ = {};
  problem_.clear();
  has_answered_ = false;
  const SnapshotPtr snapshot = open_.shared_snapshot();
  asking_.start(
      [snapshot](const Reporter<AskedProgress>& job) { return ask_kernels(snapshot, job); },
      [this](Result<AskedAnswerPtr> answer) { take(std::move(answer)); },
      [this](AskedProgress progress) {
        progress_ = progress;
        emit progressed();
      });
  emit changed();
}

void AskedKernels::cancel() {
  if (!asking_.is_running()) return;
  asking_.cancel();
  emit changed();
}

void AskedKernels::take(Result<AskedAnswerPtr> answer) {
  has_answered_ = answer.has_value();
  if (answer) {
    answer_ = *std::move(answer);
    age_ = Age::current;
  } else {
    problem_ = to_qstring(answer.error().message);
  }
  emit changed();
  follow();  // the graph may have changed in the meantime
}

void AskedKernels::follow() {
  const SnapshotPtr now = open_.shared_snapshot();
  comparing_.cancel();
  if (!answer_ || answer_->kernels->snapshot() == now) {
    if (std::exchange(age_, Age::current) != Age::current) emit changed();
    return;
  }
  // Until the age is known, the answer is shown as before.
  if (age_ == Age::current) age_ = Age::unknown;
  comparing_.start(
      [answer = answer_, now](const Cancellation& job) { return answer_for(answer, now, job); },
      [this, now](const Result<AskedAnswerPtr>& same) { handle_age(now, same); });
}

void AskedKernels::handle_age(const SnapshotPtr& snapshot, const Result<AskedAnswerPtr>& same) {
  if (snapshot != open_.shared_snapshot()) return follow();
  if (!same) {
    age_ = Age::unknown;  // the comparison failed
  } else if (*same) {
    answer_ = *same;
    age_ = Age::current;
  } else {
    age_ = Age::earlier;
  }
  emit changed();
}

}  // namespace jointer::views
