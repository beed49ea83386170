// Reads and writes the SQLite file of measured costs, which several programs share.
//
// Writers take the write lock immediately (BEGIN IMMEDIATE), so the second of two writers waits for
// the first, for at most kBusyMs, instead of failing halfway. The journal is SQLite's rollback
// journal, not a write-ahead log: home folders are often on network file systems, where a log's
// shared memory does not work, and a database on a read-only medium can still be read. A
// transaction writes a few hundred rows, so readers hardly wait.

#include "core/cost/cost_database.h"

#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>

#include "core/base/environment.h"
#include "core/base/median.h"
#include "core/cost/sqlite_statement.h"
#include "embedded/jointer_cost_schema.h"

namespace jointer {
namespace {

constexpr int kBusyMs = 20'000;
constexpr int kVersion = 101;  // major * 100 + minor
constexpr int kWithProperties = 101;
constexpr std::int64_t kMaxNs =
    100'000'000'000'000'000;  // three years; limits wrong values from a file
constexpr std::int64_t kApplication = 0x4a4e5452;

std::int64_t seconds_now() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

std::optional<CollectiveKind> parse_kind(std::string_view name) {
  using enum CollectiveKind;
  for (const CollectiveKind kind : {all_gather, reduce_scatter, all_reduce, all_to_all, broadcast})
    if (to_string(kind) == name) return kind;
  return std::nullopt;
}

// A transaction that is rolled back on destruction unless it was committed.
class Transaction {
 public:
  Transaction(sqlite3* handle, std::string_view path) : handle_(handle), path_(path) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() {
    if (is_open_) sqlite3_exec(handle_, "ROLLBACK", nullptr, nullptr, nullptr);
  }
  Result<void> begin() {
    JOINTER_CHECK(run("BEGIN IMMEDIATE"));
    is_open_ = true;
    return {};
  }
  Result<void> commit() {
    JOINTER_CHECK(run("COMMIT"));
    is_open_ = false;
    return {};
  }

 private:
  Result<void> run(const char* sql) {
    if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
      return sqlite_error(handle_, path_);
    return {};
  }

  sqlite3* handle_;
  std::string_view path_;
  bool is_open_ = false;
};

// Adds a sample for a key, and deletes the key's oldest samples beyond the limit.
struct SampleWriter {
  SqliteStatement insert, trim;

  static Result<SampleWriter> prepare(sqlite3* handle, std::string_view path,
                                      std::string_view table) {
    JOINTER_TRY(SqliteStatement insert,
                SqliteStatement::prepare(
                    handle, path, fmt::format("INSERT INTO {}(cost, ns) VALUES (?, ?)", table)));
    JOINTER_TRY(SqliteStatement trim,
                SqliteStatement::prepare(handle, path,
                                         fmt::format("DELETE FROM {0} WHERE cost = ?1 AND id <= "
                                                     "(SELECT id FROM {0} WHERE cost = ?1 ORDER BY "
                                                     "id DESC LIMIT 1 OFFSET {1})",
                                                     table, CostDatabase::kSamplesKept)));
    return SampleWriter{std::move(insert), std::move(trim)};
  }

  Result<void> add(std::int64_t cost, std::int64_t ns) {
    JOINTER_CHECK(insert.bind(1, cost).bind(2, std::max<std::int64_t>(ns, 0)).run());
    return trim.bind(1, cost).run();
  }
};

// Returns the id in the row that a RETURNING clause produces.
Result<std::int64_t> returned_id(SqliteStatement& statement) {
  JOINTER_TRY(const bool found, statement.step());
  const std::int64_t id = found ? statement.integer(0) : 0;
  JOINTER_CHECK(statement.run());
  return id;
}

Result<std::int64_t> store_device(sqlite3* handle, std::string_view path,
                                  const CostSamples& samples) {
  JOINTER_TRY(
      SqliteStatement device,
      SqliteStatement::prepare(handle, path,
                               "INSERT INTO device(name, type, first_measured, last_measured, gpu) "
                               "VALUES (?1, ?2, ?3, ?3, nullif(?4, '')) ON CONFLICT(name) DO "
                               "UPDATE SET type = ?2, last_measured = max(last_measured, ?3), "
                               "gpu = coalesce(excluded.gpu, gpu) RETURNING id"));
  device.bind(1, samples.device).bind(2, samples.device_type).bind(3, seconds_now());
  device.bind(4, samples.gpu);
  return returned_id(device);
}

Result<void> store_nodes(sqlite3* handle, std::string_view path, std::int64_t device,
                         const CostSamples& samples) {
  // The no-op update makes RETURNING return the id of an existing row.
  JOINTER_TRY(SqliteStatement key,
              SqliteStatement::prepare(handle, path,
                                       "INSERT INTO node_cost(device, work) VALUES (?, ?) ON "
                                       "CONFLICT DO UPDATE SET work = excluded.work RETURNING id"));
  JOINTER_TRY(SampleWriter writer, SampleWriter::prepare(handle, path, "node_sample"));
  for (const auto& [work, ns] : samples.nodes) {
    key.bind(1, device).bind(2, work);
    JOINTER_TRY(const std::int64_t id, returned_id(key));
    JOINTER_CHECK(writer.add(id, ns));
  }
  return {};
}

Result<void> store_collectives(sqlite3* handle, std::string_view path, std::int64_t device,
                               const CostSamples& samples) {
  JOINTER_TRY(SqliteStatement key,
              SqliteStatement::prepare(
                  handle, path,
                  "INSERT INTO collective_cost(device, kind, backend, ranks, machines, bytes, "
                  "dtype) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET kind = "
                  "excluded.kind RETURNING id"));
  JOINTER_TRY(SampleWriter writer, SampleWriter::prepare(handle, path, "collective_sample"));
  for (const auto& [work, ns] : samples.collectives) {
    key.bind(1, device).bind(2, to_string(work.kind)).bind(3, work.backend).bind(4, work.ranks);
    key.bind(5, work.machines).bind(6, work.bytes).bind(7, to_string(work.dtype));
    JOINTER_TRY(const std::int64_t id, returned_id(key));
    JOINTER_CHECK(writer.add(id, ns));
  }
  return {};
}

// Calls `take` with each key and the median of its samples. Rows must be sorted by key.
template <class Key, class Read, class Take>
Result<void> each_median(SqliteStatement& rows, Read read, Take take) {
  std::optional<std::int64_t> id;
  Key key{};
  std::vector<std::int64_t> samples;
  const auto flush = [&] {
    if (id) take(std::move(key), median(samples));
    samples.clear();
  };
  while (true) {
    JOINTER_TRY(const bool more, rows.step());
    if (!more) break;
    if (id != rows.integer(0)) {
      flush();
      id = rows.integer(0);
      key = read(rows);
    }
    samples.push_back(std::clamp<std::int64_t>(rows.integer(1), 0, kMaxNs));
  }
  flush();
  return {};
}

}  // namespace

void CostDatabase::Close::operator()(sqlite3* handle) const {
  sqlite3_close_v2(handle);
}

std::string CostDatabase::default_path() {
  const std::string path = environment_variable("JOINTER_COSTS");
  return path.empty() ? data_folder() + "/costs.sqlite" : path;
}

Result<CostDatabase::Handle> CostDatabase::connect(const std::string& path, bool write) {
  sqlite3* raw = nullptr;
  const int flags = write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
                          : SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
  const int status = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  Handle handle(raw);
  if (status != SQLITE_OK && !write)
    return input_error("{}: the cost database cannot be read: {}", path, sqlite3_errmsg(raw));
  if (status != SQLITE_OK) return sqlite_error(raw, path);
  sqlite3_busy_timeout(raw, kBusyMs);
  sqlite3_exec(raw, "PRAGMA foreign_keys = ON", nullptr, nullptr, nullptr);
  // The file may come from anywhere: do not trust its schema.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return handle;
}

// Returns 0 for a database without tables. Error (input): the file belongs to another program, is
// damaged, or has another major version.
Result<int> CostDatabase::version() const {
  const auto number = [&](std::string_view sql) -> Result<std::int64_t> {
    JOINTER_TRY(SqliteStatement query, SqliteStatement::prepare(handle_.get(), path_, sql));
    JOINTER_TRY(const bool found, query.step());
    return found ? query.integer(0) : 0;
  };
  JOINTER_TRY(const std::int64_t tables, number("SELECT count(*) FROM sqlite_schema"));
  if (tables == 0) return 0;
  JOINTER_TRY(const std::int64_t application, number("PRAGMA application_id"));
  if (application != kApplication)
    return input_error(
        "{}: not a cost database: the file belongs to another program; set JOINTER_COSTS to "
        "another file",
        path_);
  JOINTER_TRY(const std::int64_t version, number("PRAGMA user_version"));
  if (version / 100 != kVersion / 100)
    return input_error(
        "{}: the cost database has version {}.{}, but this program reads {}.x; {}set JOINTER_COSTS "
        "to another file",
        path_, version / 100, version % 100, kVersion / 100,
        version > kVersion ? "use a newer Jointer, or " : "");
  return static_cast<int>(version);
}

Result<void> CostDatabase::create_tables() {
  Transaction transaction(handle_.get(), path_);
  JOINTER_CHECK(transaction.begin());
  // Another process may have created the tables in the meantime.
  JOINTER_TRY(const int now, version());
  if (now != 0) return {};
  const std::string schema(embedded::cost_database_schema());
  if (sqlite3_exec(handle_.get(), schema.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return sqlite_error(handle_.get(), path_);
  return transaction.commit();
}

// Extends a file of version 1.0.
Result<void> CostDatabase::add_properties() {
  Transaction transaction(handle_.get(), path_);
  JOINTER_CHECK(transaction.begin());
  // Another process may have extended it in the meantime.
  JOINTER_TRY(const int now, version());
  if (now >= kWithProperties) return {};
  if (sqlite3_exec(handle_.get(),
                   "ALTER TABLE device ADD COLUMN gpu TEXT; PRAGMA user_version = 101", nullptr,
                   nullptr, nullptr) != SQLITE_OK)
    return sqlite_error(handle_.get(), path_);
  return transaction.commit();
}

Result<CostDatabase> CostDatabase::open(const std::string& path) {
  std::error_code status;
  const bool is_there = std::filesystem::exists(path, status);
  if (status) return input_error("{}: {}", path, status.message());
  if (!is_there) return CostDatabase(path, nullptr);
  if (std::filesystem::is_directory(path, status))
    return input_error("{}: expected a file, got a folder", path);
  JOINTER_TRY(Handle handle, connect(path, false));
  CostDatabase database(path, std::move(handle));
  JOINTER_TRY(const int version, database.version());
  if (version == 0) database.handle_ = nullptr;
  return database;
}

Result<CostDatabase> CostDatabase::open_or_create(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code status;
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty())
    fs::create_directories(folder, status);
  if (status)
    return fail(
        Error::Kind::run,
        "{}: cannot create the folder of the cost database: {}; set JOINTER_COSTS to another file",
        path, status.message());
  JOINTER_TRY(Handle handle, connect(path, true));
  CostDatabase database(path, std::move(handle));
  JOINTER_TRY(const int version, database.version());
  if (version == 0) {
    JOINTER_CHECK(database.create_tables());
  } else if (version < kWithProperties) {
    JOINTER_CHECK(database.add_properties());
  }
  return database;
}

Result<void> CostDatabase::store(const CostSamples& samples) {
  if (samples.empty()) return {};
  Transaction transaction(handle_.get(), path_);
  JOINTER_CHECK(transaction.begin());
  JOINTER_TRY(const std::int64_t device, store_device(handle_.get(), path_, samples));
  JOINTER_CHECK(store_nodes(handle_.get(), path_, device, samples));
  JOINTER_CHECK(store_collectives(handle_.get(), path_, device, samples));
  return transaction.commit();
}

Result<std::vector<MeasuredDevice>> CostDatabase::devices() const {
  std::vector<MeasuredDevice> devices;
  if (!handle_) return devices;
  JOINTER_TRY(const int now, version());
  JOINTER_TRY(
      SqliteStatement rows,
      SqliteStatement::prepare(
          handle_.get(), path_,
          fmt::format(
              "SELECT name, type, first_measured, last_measured, "
              "(SELECT count(*) FROM node_cost WHERE device = d.id), "
              "(SELECT count(*) FROM collective_cost WHERE device = d.id), "
              "(SELECT count(*) FROM node_sample s JOIN node_cost c ON c.id = s.cost "
              " WHERE c.device = d.id) + "
              "(SELECT count(*) FROM collective_sample s JOIN collective_cost c ON c.id = s.cost "
              " WHERE c.device = d.id), {} FROM device d ORDER BY last_measured DESC, d.id DESC",
              now < kWithProperties ? "NULL" : "d.gpu")));
  while (true) {
    JOINTER_TRY(const bool more, rows.step());
    if (!more) return devices;
    devices.push_back({.name = std::string(rows.text(0)),
                       .type = std::string(rows.text(1)),
                       .nodes = rows.integer(4),
                       .collectives = rows.integer(5),
                       .samples = rows.integer(6),
                       .first_measured = rows.integer(2),
                       .last_measured = rows.integer(3),
                       .gpu = std::string(rows.text(7))});
  }
}

Result<MeasuredDevice> CostDatabase::device(std::string_view name) const {
  JOINTER_TRY(const std::vector<MeasuredDevice> all, devices());
  std::string names;
  for (const MeasuredDevice& candidate : all) {
    if (candidate.name == name) return candidate;
    names += names.empty() ? "" : ", ";
    names += candidate.name;
  }
  return fail(Error::Kind::usage, "nothing has been measured on `{}`; {}", name,
              names.empty() ? "the cost database is empty" : "measured devices: " + names);
}

Result<DeviceCosts> CostDatabase::load(std::string_view name) const {
  DeviceCosts costs;
  JOINTER_TRY(costs.device, device(name));
  JOINTER_TRY(SqliteStatement nodes,
              SqliteStatement::prepare(
                  handle_.get(), path_,
                  "SELECT c.id, s.ns, c.work FROM node_cost c JOIN node_sample s ON s.cost = c.id "
                  "JOIN device d ON d.id = c.device WHERE d.name = ? ORDER BY c.id"));
  nodes.bind(1, name);
  costs.nodes.reserve(static_cast<std::size_t>(std::max<std::int64_t>(costs.device.nodes, 0)));
  JOINTER_CHECK(each_median<std::string>(
      nodes, [](const SqliteStatement& row) { return std::string(row.text(2)); },
      [&](std::string&& work, std::int64_t ns) { costs.nodes.emplace(std::move(work), ns); }));

  JOINTER_TRY(SqliteStatement collectives,
              SqliteStatement::prepare(
                  handle_.get(), path_,
                  "SELECT c.id, s.ns, kind, backend, ranks, machines, bytes, dtype FROM "
                  "collective_cost c JOIN collective_sample s ON s.cost = c.id "
                  "JOIN device d ON d.id = c.device WHERE d.name = ? ORDER BY c.id"));
  collectives.bind(1, name);
  JOINTER_CHECK(each_median<CollectiveWork>(
      collectives,
      [](const SqliteStatement& row) {
        return CollectiveWork{.kind = parse_kind(row.text(2)).value_or(CollectiveKind::none),
                              .backend = std::string(row.text(3)),
                              .ranks = row.integer(4),
                              .machines = row.integer(5),
                              .bytes = row.integer(6),
                              .dtype = parse_dtype(row.text(7)).value_or(DType::uint8)};
      },
      [&](CollectiveWork&& work, std::int64_t ns) {
        costs.collectives.emplace(std::move(work), ns);
      }));
  return costs;
}

Result<void> CostDatabase::forget(std::string_view name) {
  if (!handle_) {
    JOINTER_CHECK(device(name));
    return {};
  }
  Transaction transaction(handle_.get(), path_);
  JOINTER_CHECK(transaction.begin());
  JOINTER_CHECK(device(name));
  JOINTER_TRY(SqliteStatement statement,
              SqliteStatement::prepare(handle_.get(), path_, "DELETE FROM device WHERE name = ?"));
  JOINTER_CHECK(statement.bind(1, name).run());
  return transaction.commit();
}

}  // namespace jointer
