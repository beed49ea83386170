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

// Returns `text` with each byte that is not part of valid UTF-8 replaced by U+FFFD, so that any
// process output can be written to JSON and shown on the screen.
std::string valid_utf8(std::string_view text);

}  // namespace jointer
