#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string_view>

#include "core/base/result.h"
#include "core/query/query_result.h"
#include "core/schedule/analysis.h"

namespace jointer {

struct QueryLimits {
  std::size_t rows = 0;               // 0: all
  std::chrono::milliseconds time{0};  // 0: no limit
};

// A graph and its analysis as tables of a SQLite database in memory, which queries can read but not
// change. Holds no reference to the graph.
class QueryDatabase {
 public:
  // Polled while tables are filled and while a query runs; returns true to stop.
  using Stop = std::function<bool()>;

  // Fills the tables. Cost: linear in nodes, inputs and storages; 500,000 nodes take a few seconds.
  // Error (cancelled): `is_stopped` returned true. Error (run): SQLite failed, as when memory runs
  // out.
  static Result<QueryDatabase> build(const Graph& graph, const Analysis& analysis,
                                     const Stop& is_stopped = {});
  ~QueryDatabase();
  QueryDatabase(QueryDatabase&&) noexcept;
  QueryDatabase& operator=(QueryDatabase&&) noexcept;

  // Runs one SELECT. Thread-safe; calls run one at a time.
  // Error (usage): there is not exactly one statement, it does more than read, or it is invalid or
  // fails (the message is then SQLite's, with the position in the text if known, and with the most
  // similar name if a table, column or function is unknown).
  // Error (cancelled): `is_stopped` returned true. Error (run): the time limit was reached, or the
  // query needs more than 4 GiB of memory or its result more than 1 GiB.
  [[nodiscard]] Result<QueryResult> run(std::string_view sql, const QueryLimits& limits = {},
                                        const Stop& is_stopped = {}) const;

 private:
  struct Connection;
  explicit QueryDatabase(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace jointer
