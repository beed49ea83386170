#pragma once

// A prepared SQLite statement, finalized on destruction.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace jointer {

// Returns the last error of the handle, as one line. `path` names the database.
tl::unexpected<Error> sqlite_error(sqlite3* handle, std::string_view path);

class SqliteStatement {
 public:
  // `path` is used in messages and must outlive the statement.
  static Result<SqliteStatement> prepare(sqlite3* handle, std::string_view path,
                                         std::string_view sql);

  // Parameters are numbered from 1. Text is copied.
  SqliteStatement& bind(int index, std::int64_t number);
  SqliteStatement& bind(int index, std::string_view text);

  // Advances to the next row; returns false at the end.
  Result<bool> step();
  // Runs a statement whose further rows are not needed, then resets it so that it can be bound and
  // run again.
  Result<void> run();

  // Columns of the current row, numbered from 0. A returned text is valid until the next step.
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string_view text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  SqliteStatement(sqlite3* handle, std::string_view path, sqlite3_stmt* statement)
      : handle_(handle), path_(path), statement_(statement) {}

  sqlite3* handle_;
  std::string_view path_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace jointer
