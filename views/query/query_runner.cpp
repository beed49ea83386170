#include "views/query/query_runner.h"

#include <QElapsedTimer>

namespace jointer::views {
namespace {

constexpr std::chrono::seconds kTimeLimit(60);

}  // namespace

QueryRunner::QueryRunner(Document& document, QObject* parent)
    : QObject(parent), document_(document) {}

bool QueryRunner::must_build() const {
  return !database_ || built_from_ != document_.shared_snapshot();
}

Result<QueryRunner::Outcome> QueryRunner::work(const Cancellation& job, const SnapshotPtr& snapshot,
                                               DatabasePtr database, const std::string& sql,
                                               const QueryLimits& limits) {
  const auto is_stopped = [&job] { return job.is_cancelled(); };
  if (!database) {
    JOINTER_TRY(QueryDatabase built,
                QueryDatabase::build(snapshot->graph, snapshot->analysis, is_stopped));
    database = std::make_shared<const QueryDatabase>(std::move(built));
  }
  QElapsedTimer clock;
  clock.start();
  Result<QueryResult> result = database->run(sql, limits, is_stopped);
  if (!result) return Outcome{database, tl::unexpected<Error>(result.error())};
  return Outcome{database, QueryAnswer{.result = *std::move(result),
                                       .snapshot = snapshot,
                                       .ms = static_cast<double>(clock.nsecsElapsed()) / 1e6}};
}

void QueryRunner::run(const QString& sql, std::size_t row_limit) {
  const SnapshotPtr snapshot = document_.shared_snapshot();
  // The tables of an earlier graph are useless and may be large.
  if (must_build()) database_.reset();
  const QueryLimits limits{.rows = row_limit, .time = kTimeLimit};
  task_.start([snapshot, database = database_, text = sql.toStdString(), limits](
                  const Cancellation& job) { return work(job, snapshot, database, text, limits); },
              [this, snapshot](Result<Outcome> outcome) { take(snapshot, std::move(outcome)); });
  emit started();
}

void QueryRunner::take(const SnapshotPtr& snapshot, Result<Outcome> outcome) {
  if (!outcome) return emit failed(QString::fromStdString(outcome.error().message));
  database_ = outcome->database;
  built_from_ = snapshot;
  if (!outcome->answer) return emit failed(QString::fromStdString(outcome->answer.error().message));
  emit answered(*outcome->answer);
}

}  // namespace jointer::views
