#pragma once

// Classes of ASCII characters, the same in every locale. Bytes of other characters belong to none.

#include <algorithm>
#include <string>
#include <string_view>

namespace jointer {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// The characters of identifiers, and those with which an identifier can begin.
constexpr bool is_name_character(char c) {
  return is_letter(c) || is_digit(c) || c == '_';
}
constexpr bool is_name_start(char c) {
  return is_letter(c) || c == '_';
}
// The characters of names such as `aten.mm.default`.
constexpr bool is_dotted_name_character(char c) {
  return is_name_character(c) || c == '.';
}

// The text with its ASCII letters in lowercase.
inline std::string lowercase(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// True for one or more digits.
constexpr bool is_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}
constexpr bool is_identifier(std::string_view text) {
  return !text.empty() && is_name_start(text.front()) &&
         std::ranges::all_of(text, is_name_character);
}
// True for one or more letters, digits, `_`, `.` and `-`; such a word needs no quotes in the text
// of a pipeline.
constexpr bool is_word(std::string_view text) {
  return !text.empty() &&
         std::ranges::all_of(text, [](char c) { return is_dotted_name_character(c) || c == '-'; });
}

}  // namespace jointer
