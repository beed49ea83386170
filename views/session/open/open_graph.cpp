#include "views/session/open/open_graph.h"

#include <QFileInfo>
#include <algorithm>

namespace jointer::views {

OpenGraph::OpenGraph(OpenRequest source, SnapshotPtr snapshot, QObject* parent)
    : QObject(parent), source_(std::move(source)), state_{snapshot, snapshot} {}

OpenGraph::~OpenGraph() = default;

QString OpenGraph::title() const {
  const auto title = graph().title();
  if (!title.empty()) return QString::fromUtf8(title.data(), static_cast<int>(title.size()));
  return QFileInfo(QString::fromStdString(source_.path)).fileName();
}

std::size_t OpenGraph::moment() const {
  const std::size_t points = analysis().memory.profile().size();
  const std::size_t moment = selection_.moment().value_or(analysis().memory.peak_index());
  return std::min(moment, points - 1);
}

std::optional<std::size_t> OpenGraph::moment_of(NodeId node) const {
  return analysis().memory.point_of(node);
}

void OpenGraph::analyze_with(const AnalysisOptions& options) {
  analyze(std::nullopt, options);
}

void OpenGraph::analyze_with(const AnalysisOptions& options, const Assumptions& assumptions) {
  analyze(assumptions, options);
}

void OpenGraph::assume(const Assumptions& assumptions) {
  analyze(assumptions, analysis().options);
}

void OpenGraph::analyze(std::optional<Assumptions> assumptions, const AnalysisOptions& options) {
  emit busy_changed(true);
  for (QueuedJob& queued : jobs_) queued.is_dropped |= queued.is_analysis;
  const auto compute = [assumptions = std::move(assumptions),
                        options](const Snapshot& snapshot) -> Result<SnapshotPtr> {
    Graph graph = snapshot.graph;
    if (assumptions) JOINTER_CHECK(graph.assume(*assumptions));
    return make_snapshot(std::move(graph), options);
  };
  const auto job = [compute](const DocumentState& state) -> Result<DocumentState> {
    JOINTER_TRY(const SnapshotPtr now, compute(*state.now));
    if (state.baseline == state.now) return DocumentState{now, now};
    JOINTER_TRY(const SnapshotPtr baseline, compute(*state.baseline));
    return DocumentState{now, baseline};
  };
  const auto done = [this](const Result<void>& result) {
    emit busy_changed(false);
    if (!result) emit failed(QString::fromStdString(result.error().message));
  };
  add({.job = job, .done = done, .is_analysis = true});
}

void OpenGraph::add_job(Job job, Done done) {
  add({.job = std::move(job), .done = std::move(done)});
}

void OpenGraph::add(QueuedJob queued) {
  jobs_.push_back(std::move(queued));
  if (jobs_.size() == 1) start();
}

void OpenGraph::start() {
  task_.start([job = jobs_.front().job, state = state_] { return job(state); },
              [this](const Result<DocumentState>& result) { finish(result); });
}

void OpenGraph::finish(const Result<DocumentState>& result) {
  const QueuedJob queued = std::move(jobs_.front());
  jobs_.pop_front();
  while (!jobs_.empty() && jobs_.front().is_dropped) jobs_.pop_front();
  const bool takes = result && !queued.is_dropped;
  if (takes) state_ = *result;
  // The callback may add jobs, so start the next job first; otherwise it would be started twice.
  if (!jobs_.empty()) start();
  if (!queued.is_dropped && queued.done)
    queued.done(result ? Result<void>() : tl::unexpected(result.error()));
  if (!takes) return;
  // Show the current measurement with the new estimates.
  if (measured_) overlay_measurement(measured_->shared_measurement());
  emit changed();
  emit shown();
}

void OpenGraph::overlay_measurement(const MeasurementPtr& measurement) {
  measured_ = measurement ? std::make_shared<const MeasuredTimeline>(
                                graph(), analysis(), measurement, snapshot().estimated_time.bands())
                          : nullptr;
}

void OpenGraph::show_measurement(const MeasurementPtr& measurement) {
  if ((measured_ ? measured_->shared_measurement() : nullptr) == measurement) return;
  overlay_measurement(measurement);
  emit measurement_changed();
}

void OpenGraph::set_run(std::vector<MeasurementPtr> ranks) {
  const auto old_end = measurements_.begin() + static_cast<std::ptrdiff_t>(run_count_);
  const MeasurementPtr shown = measured_ ? measured_->shared_measurement() : nullptr;
  const bool shows_old = std::find(measurements_.begin(), old_end, shown) != old_end;
  measurements_.erase(measurements_.begin(), old_end);
  measurements_.insert(measurements_.begin(), ranks.begin(), ranks.end());
  run_count_ = ranks.size();
  if (!ranks.empty())
    overlay_measurement(ranks.front());
  else if (shows_old)
    overlay_measurement(nullptr);
  emit measurement_changed();
}

void OpenGraph::add_import(MeasurementPtr measurement) {
  overlay_measurement(measurement);
  measurements_.push_back(std::move(measurement));
  emit measurement_changed();
}

}  // namespace jointer::views
