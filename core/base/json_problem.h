#pragma once

#include <string>
#include <string_view>

namespace jointer {

// A message of simdjson as part of a sentence: "a string is opened, but never closed". A word in
// capitals, as in "UTF8_ERROR: ...", stays.
inline std::string json_problem(std::string_view message) {
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (message.ends_with('.')) message.remove_suffix(1);
  std::string text(message);
  if (text.size() > 1 && is_capital(text[0]) && !is_capital(text[1]))
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

}  // namespace jointer
