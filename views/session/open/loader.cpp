#include "views/session/open/loader.h"

#include <QtConcurrentRun>

namespace jointer::views {
namespace {

constexpr int kReportEveryMs = 50;
constexpr double kReadingShare = 0.6;  // share of the progress; the rest is analysis

}  // namespace

Loader::Loader(OpenRequest request, AnalysisOptions options, QObject* parent)
    : QObject(parent), request_(std::move(request)), options_(std::move(options)) {
  connect(&watcher_, &QFutureWatcherBase::finished, this, &Loader::finish);
  connect(&timer_, &QTimer::timeout, this, &Loader::report);
  timer_.setInterval(kReportEveryMs);
}

Loader::~Loader() {
  shared_->cancel = true;
}

void Loader::start() {
  elapsed_.start();
  timer_.start();
  OpenRequest request = request_;
  request.progress = [shared = shared_](double fraction, std::string_view) {
    shared->fraction = fraction;
    return !shared->cancel;
  };
  request.choose = [shared = shared_](std::span<const GraphEntry> entries) {
    shared->choices.assign(entries.begin(), entries.end());
    return std::optional<std::size_t>();
  };
  const auto work = [request = std::move(request), options = options_,
                     shared = shared_]() -> Result<SnapshotPtr> {
    JOINTER_TRY(Graph graph, open_graph(request));
    if (shared->cancel) return fail(Error::Kind::cancelled, "opening was cancelled");
    shared->analyzing = true;
    return make_snapshot(std::move(graph), options);
  };
  watcher_.setFuture(QtConcurrent::run(work));
}

void Loader::cancel() {
  shared_->cancel = true;
  timer_.stop();
  // The work ends soon and need not be waited for.
  disconnect(&watcher_, nullptr, this, nullptr);
  emit cancelled();
}

void Loader::report() {
  const bool analyzing = shared_->analyzing;
  const double fraction = analyzing ? kReadingShare : kReadingShare * shared_->fraction;
  const auto spent = static_cast<double>(elapsed_.elapsed());
  const qint64 left =
      fraction > 0.05 && !analyzing ? static_cast<qint64>(spent / fraction - spent) : -1;
  emit progressed(fraction, analyzing ? tr("Computing memory and time") : tr("Reading nodes"),
                  left);
}

void Loader::finish() {
  timer_.stop();
  const Result<SnapshotPtr> result = watcher_.result();
  if (result)
    emit loaded(*result);
  else if (result.error().kind == Error::Kind::cancelled)
    emit cancelled();
  else if (!shared_->choices.empty())
    emit several(shared_->choices, result.error());
  else
    emit failed(result.error());
}

}  // namespace jointer::views
