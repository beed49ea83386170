#pragma once

#include <string_view>

namespace jointer {

// The text without spaces and control characters (up to U+0020) at its ends.
constexpr std::string_view trimmed(std::string_view text) {
  constexpr auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace jointer
