#pragma once

#include <simdjson.h>

#include <string>

namespace jointer {

// Simdjson's message as part of a sentence: "a string is opened, but never closed".
inline std::string json_problem(simdjson::error_code code) {
  if (code == simdjson::INCORRECT_TYPE) return "a value has the wrong type";
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  std::string text = simdjson::error_message(code);
  if (text.ends_with('.')) text.pop_back();
  if (text.size() > 1 && is_capital(text[0]) && !is_capital(text[1]))  // not "UTF8_ERROR: ..."
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

}  // namespace jointer
