#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace jointer {

// True for a byte that begins a character of valid UTF-8, false for one that continues it.
constexpr bool begins_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U;
}

// The number of characters in valid UTF-8.
constexpr std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

// The first `count` characters of UTF-8; all of `text` if it has no more. If `text` is not valid
// UTF-8, at most 4 * count bytes.
constexpr std::string_view first_characters(std::string_view text, std::size_t count) {
  const std::size_t max = std::min(text.size(), 4 * count);
  std::size_t end = 0;
  for (std::size_t seen = 0; end < max; ++end)
    if (begins_character(text[end]) && seen++ == count) break;
  return text.substr(0, end);
}

// Returns `text` with each byte that is not part of valid UTF-8 replaced by U+FFFD, so that any
// process output can be written to JSON and shown on the screen.
std::string valid_utf8(std::string_view text);

}  // namespace jointer
