#pragma once

#include <string>
#include <string_view>

namespace jointer {

// `text` with invalid UTF-8 replaced by U+FFFD, so that the output of any process can go into JSON
// and onto the screen.
std::string valid_utf8(std::string_view text);

}  // namespace jointer
