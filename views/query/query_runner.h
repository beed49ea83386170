#pragma once

#include <QObject>

#include "core/query/query_database.h"
#include "views/session/document/document.h"
#include "views/session/work/task.h"

namespace jointer::views {

struct QueryAnswer {
  QueryResult result;
  SnapshotPtr snapshot;  // the graph that was queried
  double ms = 0;         // duration of the query, without building the tables
};

// Runs queries over a document's graph on a worker thread. The tables are built for the first
// query, and again for the first query after the document's snapshot has changed.
class QueryRunner : public QObject {
  Q_OBJECT
 public:
  // `document` must outlive this object.
  explicit QueryRunner(Document& document, QObject* parent = nullptr);

  // Replaces the running query, if any. If `row_limit` is 0, returns all rows.
  void run(const QString& sql, std::size_t row_limit);
  void cancel() { task_.cancel(); }
  [[nodiscard]] bool is_running() const { return task_.is_running(); }
  // True if running a query must first build the tables.
  [[nodiscard]] bool must_build() const;

 signals:
  void started();
  // One of these is emitted when the query has ended, unless it was cancelled or replaced.
  void answered(const jointer::views::QueryAnswer& answer);
  void failed(const QString& message);

 private:
  using DatabasePtr = std::shared_ptr<const QueryDatabase>;
  struct Outcome {
    DatabasePtr database;
    Result<QueryAnswer> answer;
  };

  static Result<Outcome> work(const Cancellation& job, const SnapshotPtr& snapshot,
                              DatabasePtr database, const std::string& sql,
                              const QueryLimits& limits);
  void take(const SnapshotPtr& snapshot, Result<Outcome> outcome);

  Document& document_;
  SnapshotPtr built_from_;
  DatabasePtr database_;  // the tables for `built_from_`, or null
  Task<Outcome> task_;
};

}  // namespace jointer::views
