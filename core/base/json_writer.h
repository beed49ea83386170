#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jointer {

// Writes compact JSON by appending to a string; inserts the commas. Names and strings must be valid
// UTF-8. For documents that may be too large for a tree (core/base/json_text.h).
class JsonWriter {
 public:
  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  void key(std::string_view name);

  void string(std::string_view text);
  void integer(std::int64_t number);
  // Writes the shortest digits that Python reads as the same float, with a decimal point or an
  // exponent. The number must be finite.
  void real(double number);
  void boolean(bool value) { raw(value ? "true" : "false"); }
  void null() { raw("null"); }
  // Appends a value that is already JSON text.
  void raw(std::string_view json);
  void string_member(std::string_view name, std::string_view text) {
    key(name);
    string(text);
  }
  void integer_member(std::string_view name, std::int64_t number) {
    key(name);
    integer(number);
  }
  // Writes nothing if `json` is empty.
  void raw_member(std::string_view name, std::string_view json) {
    if (json.empty()) return;
    key(name);
    raw(json);
  }
  // Appends `"key":value,...` unchanged; appends nothing if `members` is empty.
  void raw_members(std::string_view members);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string take() { return std::move(text_); }
  void reserve(std::size_t bytes) { text_.reserve(bytes); }

 private:
  void separate();
  void open(char bracket);
  void close(char bracket);
  void append_escaped(std::string_view text);

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace jointer
