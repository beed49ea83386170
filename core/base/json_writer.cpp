#include "core/base/json_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>

namespace jointer {
namespace {

// Escapes a character that must not appear literally in a JSON string.
void append_special(std::string& text, char c) {
  switch (c) {
    case '"':
      text += "\\\"";
      break;
    case '\\':
      text += "\\\\";
      break;
    case '\n':
      text += "\\n";
      break;
    case '\t':
      text += "\\t";
      break;
    case '\r':
      text += "\\r";
      break;
    default:
      fmt::format_to(std::back_inserter(text), "\\u{:04x}", static_cast<unsigned>(c));
  }
}

}  // namespace

void JsonWriter::separate() {
  if (needs_comma_) text_ += ',';
  needs_comma_ = true;
}

void JsonWriter::open(char bracket) {
  separate();
  text_ += bracket;
  needs_comma_ = false;
}

void JsonWriter::close(char bracket) {
  text_ += bracket;
  needs_comma_ = true;
}

void JsonWriter::key(std::string_view name) {
  separate();
  append_escaped(name);
  text_ += ':';
  needs_comma_ = false;
}

void JsonWriter::string(std::string_view text) {
  separate();
  append_escaped(text);
}

void JsonWriter::integer(std::int64_t number) {
  separate();
  std::array<char, 20> digits{};  // enough for the minimum
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text_.append(digits.data(), end);
}

void JsonWriter::real(double number) {
  separate();
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  const std::string_view written(digits.data(), static_cast<std::size_t>(end - digits.data()));
  text_ += written;
  if (written.find_first_of(".en") == std::string_view::npos) text_ += ".0";
}

void JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
}

void JsonWriter::raw_members(std::string_view members) {
  if (!members.empty()) raw(members);
}

void JsonWriter::append_escaped(std::string_view text) {
  const auto is_plain = [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
  };
  text_ += '"';
  while (!text.empty()) {
    const auto special = std::ranges::find_if_not(text, is_plain);
    text_.append(text.begin(), special);
    text.remove_prefix(static_cast<std::size_t>(special - text.begin()));
    if (text.empty()) break;
    append_special(text_, text.front());
    text.remove_prefix(1);
  }
  text_ += '"';
}

}  // namespace jointer
