#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace jointer {

// Binds the values of one row to an INSERT statement, from left to right.
class RowWriter {
 public:
  explicit RowWriter(sqlite3_stmt* statement) : statement_(statement) {}

  void start() {
    at_ = 0;
    owned_.clear();
  }
  void integer(std::int64_t number) { sqlite3_bind_int64(statement_, ++at_, number); }
  void null() { sqlite3_bind_null(statement_, ++at_); }
  // The text must stay valid until the row has been inserted.
  void text(std::string_view text) {
    sqlite3_bind_text64(statement_, ++at_, text.data() == nullptr ? "" : text.data(), text.size(),
                        SQLITE_STATIC, SQLITE_UTF8);
  }
  // Both functions bind NULL if the text is empty; `owned_text` keeps the text until the next
  // start().
  void text_or_null(std::string_view value) { value.empty() ? null() : text(value); }
  void owned_text(std::string value) { text_or_null(owned_.emplace_back(std::move(value))); }

 private:
  sqlite3_stmt* statement_;
  int at_ = 0;
  std::deque<std::string> owned_;  // of the current row
};

}  // namespace jointer
