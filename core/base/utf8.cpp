#include "core/base/utf8.h"

#include <simdjson.h>

#include <cstddef>

namespace jointer {
namespace {

// Length in bytes of the UTF-8 character at the start of `text`; 0 if there is none.
std::size_t character_length(std::string_view text) {
  for (std::size_t length = 1; length <= std::min<std::size_t>(4, text.size()); ++length)
    if (simdjson::validate_utf8(text.data(), length)) return length;
  return 0;
}

}  // namespace

std::string valid_utf8(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::string(text);
  std::string valid;
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    valid += length > 0 ? text.substr(0, length) : std::string_view("\xef\xbf\xbd");
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return valid;
}

}  // namespace jointer
