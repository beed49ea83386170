#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace jointer {

// Parses the whole of `text` as a number, like std::from_chars. std::nullopt if characters remain
// or the number does not fit in its type.
template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace jointer
