#include "views/session/open/open_graph.h"

#include <QFileInfo>
#include <algorithm>

#include "core/compiled/compiled_step.h"

namespace jointer::views {
namespace {

// Analyzes the graph and the baseline of a state. `assumptions`: nullopt for those of the graphs.
Result<DocumentState> analyzed(const DocumentState& state,
                               const std::optional<Assumptions>& assumptions,
                               const AnalysisOptions& options,
                               const std::function<bool()>& is_cancelled) {
  const auto compute = [&](const Snapshot& snapshot) -> Result<SnapshotPtr> {
    Graph graph = snapshot.graph;
    if (assumptions) JOINTER_CHECK(graph.assume(*assumptions));
    return make_snapshot(std::move(graph), options, is_cancelled);
  };
  // Checked only when the execution changes: later states, and the graph as opened, are shown even
  // if they cannot be executed like that.
  if (options.execution != state.now->analysis.options.execution)
    JOINTER_CHECK(check_execution(state.now->graph, options.execution));
  JOINTER_TRY(const SnapshotPtr now, compute(*state.now));
  if (state.baseline == state.now) return DocumentState{now, now};
  JOINTER_TRY(const SnapshotPtr baseline, compute(*state.baseline));
  return DocumentState{now, baseline};
}

}  // namespace

OpenGraph::OpenGraph(OpenRequest source, SnapshotPtr snapshot, QObject* parent)
    : QObject(parent), source_(std::move(source)), state_{snapshot, snapshot} {}

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

const OpenGraph::AnalysisRequest* OpenGraph::unfinished_request() const {
  const auto latest = std::find_if(jobs_.rbegin(), jobs_.rend(), [](const QueuedJob& queued) {
    return queued.analysis && !queued.is_dropped;
  });
  return latest == jobs_.rend() ? nullptr : &*latest->analysis;
}

const AnalysisOptions& OpenGraph::wanted_options() const {
  const AnalysisRequest* request = unfinished_request();
  return request == nullptr ? analysis().options : request->options;
}

const Assumptions& OpenGraph::wanted_assumptions() const {
  const AnalysisRequest* request = unfinished_request();
  return request == nullptr || !request->assumptions ? graph().assumptions()
                                                     : *request->assumptions;
}

void OpenGraph::analyze_with(const AnalysisOptions& options) {
  const AnalysisRequest* request = unfinished_request();
  analyze({request == nullptr ? std::nullopt : request->assumptions, options});
}

void OpenGraph::analyze_with(const AnalysisOptions& options, const Assumptions& assumptions) {
  analyze({assumptions, options});
}

void OpenGraph::assume(const Assumptions& assumptions) {
  analyze({assumptions, wanted_options()});
}

void OpenGraph::analyze(AnalysisRequest request) {
  emit busy_changed(true);
  for (QueuedJob& queued : jobs_) queued.is_dropped |= queued.analysis.has_value();
  if (!jobs_.empty() && jobs_.front().analysis) task_.end_early();
  const auto done = [this](const Result<void>& result) {
    emit busy_changed(false);
    if (!result) emit failed(QString::fromStdString(result.error().message));
  };
  add({.job = {}, .done = done, .analysis = std::move(request)});
}

void OpenGraph::add_job(Job job, Done done) {
  add({.job = std::move(job), .done = std::move(done)});
}

void OpenGraph::add(QueuedJob queued) {
  jobs_.push_back(std::move(queued));
  if (jobs_.size() == 1) start();
}

void OpenGraph::start() {
  const auto take = [this](const Result<DocumentState>& result) { finish(result); };
  const QueuedJob& next = jobs_.front();
  if (!next.analysis) {
    task_.start([job = next.job, state = state_] { return job(state); }, take);
    return;
  }
  const AnalysisRequest& request = *next.analysis;
  const auto run = [state = state_, assumptions = request.assumptions,
                    options = request.options](const Cancellation& job) {
    return analyzed(state, assumptions, options, [job] { return job.is_cancelled(); });
  };
  task_.start(run, take);
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
