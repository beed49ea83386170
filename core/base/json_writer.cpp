#include "core/base/json_writer.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>

namespace jointer {

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
  fmt::format_to(std::back_inserter(text_), "{}", number);
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
  text_ += '"';
  for (const char c : text) {
    switch (c) {
      case '"':
        text_ += "\\\"";
        break;
      case '\\':
        text_ += "\\\\";
        break;
      case '\n':
        text_ += "\\n";
        break;
      case '\t':
        text_ += "\\t";
        break;
      case '\r':
        text_ += "\\r";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          fmt::format_to(std::back_inserter(text_), "\\u{:04x}", static_cast<unsigned>(c));
        else
          text_ += c;
    }
  }
  text_ += '"';
}

}  // namespace jointer
