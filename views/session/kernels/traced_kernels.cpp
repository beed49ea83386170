#include "views/session/kernels/traced_kernels.h"

#include <optional>
#include <utility>

#include "views/session/kernels/opened_kernels.h"
#include "views/session/kernels/predict_kernels.h"
#include "views/session/kernels/tied_trace.h"
#include "views/session/open/open_graph.h"
#include "views/session/translation/qstring.h"

namespace jointer::views {

TracedKernels::TracedKernels(OpenGraph& open, const OpenedKernels& compiled, QObject* parent)
    : QObject(parent), open_(open), compiled_(compiled) {
  connect(&open_, &OpenGraph::changed, this, &TracedKernels::follow);
  connect(&compiled_, &OpenedKernels::changed, this, &TracedKernels::follow);
  connect(&compiled_, &OpenedKernels::failed, this, &TracedKernels::follow);
}

bool TracedKernels::is_current() const {
  return !shown_ || shown_->snapshot() == open_.shared_snapshot();
}

TracedKernels::Basis TracedKernels::basis_now() const {
  const SnapshotPtr snapshot = open_.shared_snapshot();
  const SnapshotKernelsPtr& compiled = compiled_.shown();
  const bool fits = compiled && compiled->snapshot() == snapshot;
  return {snapshot, fits ? compiled : nullptr};
}

Result<TracedKernels::Traced> TracedKernels::tie(const Basis& basis,
                                                 std::shared_ptr<const CompiledTrace> trace,
                                                 const Cancellation& job) {
  std::optional<Error> refusal;  // of the compilation
  if (basis.compiled) {
    Result<SnapshotKernelsPtr> tied = tie_trace(*basis.compiled, trace);
    if (tied) return Traced{std::move(trace), *std::move(tied)};
    refusal = std::move(tied.error());
  }
  JOINTER_TRY(const SnapshotKernelsPtr predicted, predict_kernels(basis.snapshot, job));
  Result<SnapshotKernelsPtr> tied = tie_trace(*predicted, trace);
  // Prefer the error of the compilation, since that of predicted kernels recommends opening one.
  if (!tied) return tl::unexpected<Error>(refusal ? *std::move(refusal) : std::move(tied.error()));
  return Traced{std::move(trace), *std::move(tied)};
}

void TracedKernels::read(const QString& path) {
  reading_.cancel();
  wanted_ = path;
  follow();
}

void TracedKernels::start_reading(const QString& path) {
  const Basis basis = basis_now();
  reading_.start(
      [basis, file = path.toStdString()](const Cancellation& job) -> Result<Traced> {
        JOINTER_TRY(CompiledTrace trace, read_compiled_trace(file));
        return tie(basis, std::make_shared<const CompiledTrace>(std::move(trace)), job);
      },
      [this, basis](Result<Traced> result) {
        // Artifacts that were opened while the trace was read may fit it.
        const bool is_outdated = basis != basis_now() || compiled_.is_reading();
        if (!result && is_outdated) return follow();
        wanted_.reset();
        take(basis, std::move(result));
      });
}

void TracedKernels::close() {
  reading_.cancel();
  wanted_.reset();
  trace_.reset();
  tied_ = {};
  if (std::exchange(shown_, nullptr)) emit changed();
}

// Reads the requested trace, or ties the open one to the current graph and artifacts. Does
// nothing while a trace or artifacts are being read or tied: it is called again when that ends.
void TracedKernels::follow() {
  if (reading_.is_running() || compiled_.is_reading()) return;
  if (wanted_) return start_reading(*wanted_);
  if (!trace_) return;
  const Basis basis = basis_now();
  if (basis == tied_) return;
  reading_.start(
      [basis, trace = trace_](const Cancellation& job) { return tie(basis, trace, job); },
      [this, basis](Result<Traced> result) {
        if (!result) tied_ = basis;
        take(basis, std::move(result));
      });
}

// The graph may have changed while the job ran, even if the job failed.
void TracedKernels::take(const Basis& basis, Result<Traced> result) {
  if (result) {
    const bool is_other = trace_ != result->trace;
    trace_ = result->trace;
    shown_ = result->kernels;
    tied_ = basis;
    emit changed();
    if (is_other) emit opened();
  } else {
    emit failed(to_qstring(result.error().message));
  }
  follow();
}

}  // namespace jointer::views
