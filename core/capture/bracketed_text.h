#pragma once

// Splits text in Python or C++ at separators outside of brackets. Tokens that are never split, such
// as strings and comments, differ between the languages, so the caller passes `after_whole(text,
// at)`: it returns the end of the token that starts at `at`, or `at` if none does. Cost: linear.

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/trimmed.h"

namespace jointer {

constexpr bool opens_bracket(char c) {
  return c == '(' || c == '[' || c == '{';
}
constexpr bool closes_bracket(char c) {
  return c == ')' || c == ']' || c == '}';
}

// The position after the string that starts with the quote at `at`. A string that is not closed
// ends with its line.
constexpr std::size_t after_string(std::string_view text, std::size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n')
    at += text[at] == '\\' ? 2U : 1U;
  return std::min(at + 1, text.size());
}

// The position of the bracket that closes the one at `open`; nullopt if none does.
template <typename AfterWhole>
std::optional<std::size_t> find_closing_bracket(std::string_view text, std::size_t open,
                                                AfterWhole after_whole) {
  int depth = 0;
  for (std::size_t at = open; at < text.size();) {
    if (const std::size_t after = after_whole(text, at); after != at) {
      at = after;
      continue;
    }
    if (opens_bracket(text[at])) ++depth;
    if (closes_bracket(text[at]) && --depth <= 0) return at;
    ++at;
  }
  return std::nullopt;
}

// Splits at separators outside of brackets; the parts are trimmed, and a last empty part is left
// out.
template <typename AfterWhole>
std::vector<std::string_view> split_outside_brackets(std::string_view text, char separator,
                                                     AfterWhole after_whole) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t after = after_whole(text, at); after != at) {
      at = after;
      continue;
    }
    if (opens_bracket(text[at])) ++depth;
    if (closes_bracket(text[at])) --depth;
    if (text[at] == separator && depth == 0) {
      parts.push_back(trimmed(text.substr(begin, at - begin)));
      begin = at + 1;
    }
    ++at;
  }
  if (const std::string_view last = trimmed(text.substr(begin)); !last.empty())
    parts.push_back(last);
  return parts;
}

}  // namespace jointer
