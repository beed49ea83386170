// Builds the tables of a graph in an in-memory SQLite database, and runs queries on them.
//
// The tables are filled in one transaction, with one INSERT per row (graph_tables.h). After that,
// the connection only reads: `query_only` is set, and an authorizer refuses every action except
// SELECT, functions other than load_extension, and the PRAGMAs that list tables and columns. A
// progress handler, which SQLite calls every 10,000 instructions of its virtual machine, stops a
// query that was cancelled, exceeds the time limit or uses too much memory.

#include "core/query/query_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include "core/base/characters.h"
#include "core/base/utf8.h"
#include "core/query/graph_tables.h"
#include "core/query/name_hint.h"

namespace jointer {
namespace {

constexpr int kProgressInterval = 10'000;  // in instructions of the virtual machine
constexpr std::size_t kRowsPerCheck = 4096;
constexpr int kMaxValueBytes = 64 << 20;
constexpr std::int64_t kMaxMemory = std::int64_t{4} << 30;  // for one query
constexpr std::size_t kMaxResultBytes = std::size_t{1} << 30;

struct Close {
  void operator()(sqlite3* handle) const { sqlite3_close(handle); }
};
struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Handle = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

tl::unexpected<Error> run_error(sqlite3* handle) {
  return fail(Error::Kind::run, "cannot build the tables of the graph: {}", sqlite3_errmsg(handle));
}

Result<void> execute(sqlite3* handle, const std::string& sql) {
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return run_error(handle);
  return {};
}

Result<void> fill_table(sqlite3* handle, const TableWriter& table, const TableSource& source,
                        const QueryDatabase::Stop& is_stopped) {
  JOINTER_CHECK(execute(handle, create_statement(table.table)));
  std::string sql = fmt::format("INSERT INTO {} VALUES (?", table.table.name);
  for (std::size_t i = 1; i < table.table.columns.size(); ++i) sql += ", ?";
  sql += ")";
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(handle, sql.c_str(), -1, &prepared, nullptr) != SQLITE_OK)
    return run_error(handle);
  const Statement insert(prepared);
  RowWriter writer(prepared);
  std::size_t rows = 0;
  bool is_failed = false, is_cancelled = false;
  table.fill(source, writer, [&] {
    is_failed = sqlite3_step(prepared) != SQLITE_DONE;
    sqlite3_reset(prepared);
    is_cancelled = ++rows % kRowsPerCheck == 0 && is_stopped && is_stopped();
    return !is_failed && !is_cancelled;
  });
  if (is_failed) return run_error(handle);
  if (is_cancelled) return fail(Error::Kind::cancelled, "cancelled");
  return {};
}

// The names of SQLite's functions; empty if this SQLite does not list them.
std::vector<std::string> function_names(sqlite3* handle) {
  std::vector<std::string> names;
  const auto add = [](void* list, int /*count*/, char** values, char** /*columns*/) {
    if (values[0] != nullptr) static_cast<std::vector<std::string>*>(list)->emplace_back(values[0]);
    return 0;
  };
  sqlite3_exec(handle, "SELECT DISTINCT name FROM pragma_function_list ORDER BY name", add, &names,
               nullptr);
  return names;
}

// --- Permissions of a query ---

bool is_one_of(const char* name, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, lowercase(name == nullptr ? "" : name)) != names.end();
}

int authorize(void* /*context*/, int action, const char* first, const char* second,
              const char* /*database*/, const char* /*trigger*/) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    case SQLITE_FUNCTION:
      return is_one_of(second, {"load_extension"}) ? SQLITE_DENY : SQLITE_OK;
    case SQLITE_PRAGMA:  // these never write
      return is_one_of(first, {"table_info", "table_xinfo", "table_list"}) ? SQLITE_OK
                                                                           : SQLITE_DENY;
    default:
      return SQLITE_DENY;
  }
}

// --- Errors of a query ---

// SQLite's message on one line, with the position in the text if known.
std::string message_of(sqlite3* handle, std::string_view sql) {
  std::string text = sqlite3_errmsg(handle);
  std::ranges::replace_if(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  const int offset = sqlite3_error_offset(handle);
  if (offset < 0 || static_cast<std::size_t>(offset) > sql.size()) return text;
  const std::string_view before = sql.substr(0, static_cast<std::size_t>(offset));
  const auto line = 1 + std::ranges::count(before, '\n');
  const std::string_view in_line = before.substr(before.rfind('\n') + 1);
  const std::size_t column = 1 + character_count(in_line);
  return fmt::format("{} (line {}, column {})", text, line, column);
}

tl::unexpected<Error> refusal() {
  return fail(Error::Kind::usage,
              "a query can only read: use SELECT; statements that change data, ATTACH and most "
              "PRAGMAs are refused");
}

tl::unexpected<Error> query_error(sqlite3* handle, std::string_view sql) {
  switch (sqlite3_errcode(handle)) {
    case SQLITE_AUTH:
    case SQLITE_READONLY:
      return refusal();
    case SQLITE_NOMEM:
      return fail(Error::Kind::run,
                  "the query needs too much memory; select fewer rows or columns");
    case SQLITE_TOOBIG:
      return fail(Error::Kind::usage,
                  "the query or one of its values is larger than 64 MiB; select smaller values");
    default:
      break;
  }
  if (std::string_view(sqlite3_errmsg(handle)) == "incomplete input")
    return fail(Error::Kind::usage, "the query is incomplete; complete the statement");
  return fail(Error::Kind::usage, "{}", message_of(handle, sql));
}

// --- Running ---

class Watch {
 public:
  Watch(sqlite3* handle, const QueryLimits& limits, const QueryDatabase::Stop& is_stopped)
      : handle_(handle),
        limits_(limits),
        is_stopped_(is_stopped),
        started_(std::chrono::steady_clock::now()),
        used_before_(sqlite3_memory_used()) {
    sqlite3_progress_handler(handle_, kProgressInterval, &Watch::look, this);
  }
  ~Watch() { sqlite3_progress_handler(handle_, 0, nullptr, nullptr); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // The reason why the query was stopped; nullopt if it was not.
  [[nodiscard]] const std::optional<Error>& reason() const { return reason_; }

 private:
  static int look(void* self) { return static_cast<Watch*>(self)->must_stop() ? 1 : 0; }

  bool must_stop() {
    const auto time = std::chrono::steady_clock::now() - started_;
    if (is_stopped_ && is_stopped_())
      reason_ = {Error::Kind::cancelled, "cancelled"};
    else if (limits_.time.count() > 0 && time > limits_.time)
      reason_ = {Error::Kind::run,
                 fmt::format("the query was stopped after {} s; select or join fewer rows",
                             std::chrono::duration<double>(limits_.time).count())};
    else if (sqlite3_memory_used() - used_before_ > kMaxMemory)
      reason_ = {Error::Kind::run,
                 "the query needs more than 4 GiB of memory; select fewer rows or columns"};
    return reason_.has_value();
  }

  sqlite3* handle_;
  const QueryLimits& limits_;
  const QueryDatabase::Stop& is_stopped_;
  std::chrono::steady_clock::time_point started_;
  std::int64_t used_before_;
  std::optional<Error> reason_;
};

std::string text_of(sqlite3_stmt* statement, int column) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  return text == nullptr ? std::string() : std::string(text, size);
}

std::string hex_of(sqlite3_stmt* statement, int column) {
  const auto* bytes = static_cast<const unsigned char*>(sqlite3_column_blob(statement, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
  std::string text;
  for (std::size_t i = 0; i < size; ++i)
    fmt::format_to(std::back_inserter(text), "{:02x}", bytes[i]);
  return text;
}

QueryValue value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT:
      return text_of(statement, column);
    case SQLITE_BLOB:
      return hex_of(statement, column);
    default:
      return std::monostate();
  }
}

std::size_t size_of(const QueryValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return sizeof(QueryValue) + (text == nullptr ? 0 : text->size());
}

// Error (usage): there is no statement or more than one, or the statement is invalid or does more
// than read. `functions`: as for `name_hint`.
Result<Statement> prepare(sqlite3* handle, std::string_view sql,
                          const std::vector<std::string>& functions) {
  sqlite3_stmt* prepared = nullptr;
  const char* rest = nullptr;
  const int status =
      sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &prepared, &rest);
  Statement statement(prepared);
  if (status != SQLITE_OK) {
    const std::string hint = name_hint(sqlite3_errmsg(handle), sql, functions);
    const tl::unexpected<Error> error = query_error(handle, sql);
    return fail(error.value().kind, "{}{}", error.value().message, hint);
  }
  if (!statement) return fail(Error::Kind::usage, "the query is empty; enter a SELECT statement");
  if (sqlite3_stmt_readonly(prepared) == 0) return refusal();
  // Only blanks and comments may follow, for which SQLite prepares no statement.
  sqlite3_stmt* next = nullptr;
  const auto left = static_cast<int>(sql.data() + sql.size() - rest);
  const int next_status = sqlite3_prepare_v2(handle, rest, left, &next, nullptr);
  const Statement second(next);
  if (next_status != SQLITE_OK || second)
    return fail(Error::Kind::usage, "the query contains more than one statement; enter only one");
  return statement;
}

Result<QueryResult> rows_of(sqlite3* handle, sqlite3_stmt* statement, std::string_view sql,
                            const QueryLimits& limits) {
  QueryResult result;
  const int columns = sqlite3_column_count(statement);
  for (int c = 0; c < columns; ++c) result.columns.emplace_back(sqlite3_column_name(statement, c));
  std::size_t bytes = 0;
  while (true) {
    const int status = sqlite3_step(statement);
    if (status == SQLITE_DONE) return result;
    if (status != SQLITE_ROW) return query_error(handle, sql);
    if (limits.rows > 0 && result.rows.size() == limits.rows) {
      result.is_cut = true;
      return result;
    }
    std::vector<QueryValue>& row = result.rows.emplace_back();
    row.reserve(static_cast<std::size_t>(columns));
    for (int c = 0; c < columns; ++c) bytes += size_of(row.emplace_back(value_of(statement, c)));
    if (bytes > kMaxResultBytes)
      return fail(Error::Kind::run,
                  "the result is larger than 1 GiB; select fewer rows or columns");
  }
}

}  // namespace

struct QueryDatabase::Connection {
  Handle handle;
  std::vector<std::string> functions;  // the names of SQLite's functions
  std::mutex one_at_a_time;
};

QueryDatabase::QueryDatabase(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)) {}
QueryDatabase::~QueryDatabase() = default;
QueryDatabase::QueryDatabase(QueryDatabase&&) noexcept = default;
QueryDatabase& QueryDatabase::operator=(QueryDatabase&&) noexcept = default;

Result<QueryDatabase> QueryDatabase::build(const Graph& graph, const Analysis& analysis,
                                           const Stop& is_stopped) {
  sqlite3* opened = nullptr;
  const int status =
      sqlite3_open_v2(":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  auto connection = std::make_unique<Connection>();
  connection->handle.reset(opened);
  if (status != SQLITE_OK) return run_error(opened);
  JOINTER_CHECK(execute(opened,
                        "PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY; "
                        "PRAGMA page_size = 65536; BEGIN"));
  const TableSource source(graph, analysis);
  for (const TableWriter& table : table_writers())
    JOINTER_CHECK(fill_table(opened, table, source, is_stopped));
  // SQLite declares the table of a PRAGMA when it is first used. The authorizer would refuse that,
  // so use these tables now.
  JOINTER_CHECK(execute(opened,
                        "COMMIT; PRAGMA query_only = ON; SELECT * FROM pragma_table_info(''); "
                        "SELECT * FROM pragma_table_xinfo(''); SELECT * FROM pragma_table_list"));
  connection->functions = function_names(opened);
  sqlite3_limit(opened, SQLITE_LIMIT_LENGTH, kMaxValueBytes);
  sqlite3_db_config(opened, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_set_authorizer(opened, authorize, nullptr);
  return QueryDatabase(std::move(connection));
}

Result<QueryResult> QueryDatabase::run(std::string_view sql, const QueryLimits& limits,
                                       const Stop& is_stopped) const {
  const std::scoped_lock lock(connection_->one_at_a_time);
  sqlite3* handle = connection_->handle.get();
  JOINTER_TRY(const Statement statement, prepare(handle, sql, connection_->functions));
  const Watch watch(handle, limits, is_stopped);
  Result<QueryResult> result = rows_of(handle, statement.get(), sql, limits);
  if (!result && watch.reason()) return tl::unexpected<Error>(*watch.reason());
  return result;
}

}  // namespace jointer
