#pragma once

#include <charconv>
#include <optional>
#include <string_view>

#include "core/base/characters.h"

namespace jointer {

// Parses `text` like std::from_chars. Returns std::nullopt unless the whole text is a number that
// fits in `Number`.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// True if the text of a number has a decimal point or an exponent, as "1.5" and "1e3" have. False
// for words such as `null`.
constexpr bool is_real(std::string_view text) {
  return !text.empty() && (text.front() == '-' || is_digit(text.front())) &&
         text.find_first_of(".eE") != std::string_view::npos;
}

}  // namespace jointer
