#include "views/session/kernels/opened_kernels.h"

#include <utility>

#include "views/session/kernels/tied_artifacts.h"
#include "views/session/open/open_graph.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {

OpenedKernels::OpenedKernels(OpenGraph& open, QObject* parent) : QObject(parent), open_(open) {
  connect(&open_, &OpenGraph::changed, this, &OpenedKernels::follow);
}

void OpenedKernels::read(const QString& path) {
  reading_.start(
      [snapshot = open_.shared_snapshot(), file = path.toStdString()]() -> Result<Opened> {
        JOINTER_TRY(CompileArtifacts found, read_compile_artifacts(file));
        const auto artifacts = std::make_shared<const CompileArtifacts>(std::move(found));
        JOINTER_TRY(SnapshotKernelsPtr kernels, tie_artifacts(snapshot, artifacts));
        return Opened{artifacts, snapshot, std::move(kernels)};
      },
      [this](Result<Opened> result) { take(std::move(result)); });
}

bool OpenedKernels::is_current() const {
  return !shown_ || shown_->snapshot() == open_.shared_snapshot();
}

void OpenedKernels::close() {
  const bool was_reading = reading_.is_running();
  reading_.cancel();
  artifacts_.reset();
  if (std::exchange(shown_, nullptr) || was_reading) emit changed();
}

// Ties the kernels to the graph's new state. If a job is running, `take` calls this again.
void OpenedKernels::follow() {
  const SnapshotPtr snapshot = open_.shared_snapshot();
  if (!artifacts_ || shown_->snapshot() == snapshot || reading_.is_running()) return;
  if (refused_.lock() == snapshot) return;
  reading_.start(
      [snapshot, artifacts = artifacts_]() -> Result<Opened> {
        JOINTER_TRY(SnapshotKernelsPtr kernels, tie_artifacts(snapshot, artifacts));
        return Opened{artifacts, snapshot, std::move(kernels)};
      },
      [this, snapshot](Result<Opened> result) {
        if (!result) refused_ = snapshot;
        take(std::move(result));
      });
}

// The graph may have changed while the job ran, even if the job failed.
void OpenedKernels::take(Result<Opened> result) {
  if (result) {
    const bool is_other = artifacts_ != result->artifacts;
    artifacts_ = result->artifacts;
    shown_ = result->kernels;
    refused_.reset();
    emit changed();
    if (is_other) emit opened();
  } else {
    emit failed(to_qstring(result.error().message));
  }
  follow();
}

}  // namespace jointer::views
