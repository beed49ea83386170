#include "views/document/document.h"

#include <QFileInfo>
#include <QtConcurrentRun>

namespace jointer::views {

Document::Document(OpenRequest source, SnapshotPtr snapshot, QObject* parent)
    : QObject(parent), source_(std::move(source)), snapshot_(std::move(snapshot)) {
  connect(&watcher_, &QFutureWatcherBase::finished, this, &Document::take_result);
}

QString Document::title() const {
  const auto title = graph().title();
  if (!title.empty()) return QString::fromUtf8(title.data(), static_cast<int>(title.size()));
  return QFileInfo(QString::fromStdString(source_.path)).fileName();
}

std::size_t Document::moment() const {
  const std::size_t points = analysis().memory.profile().size();
  const std::size_t moment = selection_.moment().value_or(analysis().memory.peak_index());
  return std::min(moment, points - 1);
}

std::optional<std::size_t> Document::moment_of(NodeId node) const {
  const auto step = analysis().memory.step_of(node);
  return step ? std::optional(1 + 2 * *step) : std::nullopt;
}

void Document::analyze_with(const AnalysisOptions& options) {
  start(std::nullopt, options);
}

void Document::assume(const Assumptions& assumptions) {
  start(assumptions, analysis().options);
}

void Document::start(std::optional<Assumptions> assumptions, const AnalysisOptions& options) {
  emit busy_changed(true);
  const auto work = [snapshot = snapshot_, assumptions = std::move(assumptions),
                     options]() -> Result<SnapshotPtr> {
    Graph graph = snapshot->graph;
    if (assumptions) JOINTER_CHECK(graph.assume(*assumptions));
    return make_snapshot(std::move(graph), options);
  };
  // An older future that still runs is let go: its result is never looked at.
  watcher_.setFuture(QtConcurrent::run(work));
}

void Document::take_result() {
  emit busy_changed(false);
  const Result<SnapshotPtr> result = watcher_.result();
  if (!result) {
    emit failed(QString::fromStdString(result.error().message));
    return;
  }
  snapshot_ = *result;
  emit changed();
}

}  // namespace jointer::views
