#include "views/session/open/loader.h"

namespace jointer::views {
namespace {

constexpr int kReportEveryMs = 50;
constexpr double kReadingShare = 0.6;  // reading's share of the progress; the rest is the analysis

}  // namespace

Loader::Loader(OpenRequest request, AnalysisOptions options, QObject* parent)
    : QObject(parent), request_(std::move(request)), options_(std::move(options)) {
  connect(&timer_, &QTimer::timeout, this, &Loader::report);
  timer_.setInterval(kReportEveryMs);
}

void Loader::start() {
  elapsed_.start();
  timer_.start();
  const auto work = [request = request_, options = options_,
                     shared = shared_](const Cancellation& job) mutable -> Result<SnapshotPtr> {
    request.progress = [&](double fraction, std::string_view) {
      shared->fraction = fraction;
      return !job.is_cancelled();
    };
    request.choose = [&](std::span<const GraphEntry> entries) {
      shared->choices.assign(entries.begin(), entries.end());
      return std::optional<std::size_t>();
    };
    JOINTER_TRY(Graph graph, open_graph(request));
    if (job.is_cancelled()) return fail(Error::Kind::cancelled, "opening was cancelled");
    shared->analyzing = true;
    return make_snapshot(std::move(graph), options, [&job] { return job.is_cancelled(); });
  };
  task_.start(work, [this](const Result<SnapshotPtr>& result) { finish(result); });
}

void Loader::cancel() {
  task_.cancel();
  timer_.stop();
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

void Loader::finish(const Result<SnapshotPtr>& result) {
  timer_.stop();
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
