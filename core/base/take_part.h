#pragma once

#include <algorithm>
#include <string_view>

namespace jointer {

// Returns the text before the first `separator`, or all of it if there is none, and removes it and
// the separator from `text`.
constexpr std::string_view take_part(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

}  // namespace jointer
