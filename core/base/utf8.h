#pragma once

#include <string>
#include <string_view>

namespace jointer {

// Returns `text` with each byte that is not part of valid UTF-8 replaced by U+FFFD, so that any
// process output can be written to JSON and shown on the screen.
std::string valid_utf8(std::string_view text);

}  // namespace jointer
