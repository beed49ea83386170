#include "core/cost/sqlite_statement.h"

#include <algorithm>

namespace jointer {

tl::unexpected<Error> sqlite_error(sqlite3* handle, std::string_view path) {
  const int code = sqlite3_extended_errcode(handle);
  // The message may quote control characters from a damaged file.
  std::string text = sqlite3_errmsg(handle);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      return input_error("{}: not a cost database: {}", path, text);
    case SQLITE_CORRUPT:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR:  // a table or column is missing
    case SQLITE_MISMATCH:
      return input_error(
          "{}: the cost database is damaged ({}); move or delete the file, and the next "
          "measurement creates a new one",
          path, text);
    case SQLITE_READONLY:
      return fail(
          Error::Kind::run,
          "{}: the cost database cannot be written to ({}); set JOINTER_COSTS to another file",
          path, text);
    case SQLITE_BUSY:
      return fail(Error::Kind::run,
                  "{}: the cost database is locked by another process ({}); try again", path, text);
    default:
      return fail(Error::Kind::run, "{}: cannot use the cost database: {}", path, text);
  }
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

Result<SqliteStatement> SqliteStatement::prepare(sqlite3* handle, std::string_view path,
                                                 std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK)
    return sqlite_error(handle, path);
  return SqliteStatement(handle, path, statement);
}

SqliteStatement& SqliteStatement::bind(int index, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), index, number);
  return *this;
}

SqliteStatement& SqliteStatement::bind(int index, std::string_view text) {
  // SQLITE_TRANSIENT: SQLite copies the text.
  constexpr auto kCopied = static_cast<std::intptr_t>(-1);
  sqlite3_bind_text64(statement_.get(), index, text.data(), text.size(),
                      reinterpret_cast<sqlite3_destructor_type>(kCopied), SQLITE_UTF8);
  return *this;
}

Result<bool> SqliteStatement::step() {
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  return sqlite_error(handle_, path_);
}

Result<void> SqliteStatement::run() {
  const int status = sqlite3_step(statement_.get());
  if (status != SQLITE_DONE && status != SQLITE_ROW) return sqlite_error(handle_, path_);
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  return {};
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view SqliteStatement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

}  // namespace jointer
