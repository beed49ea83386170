#pragma once

#include <string>
#include <string_view>

namespace jointer {

// `text` with U+FFFD for what is not UTF-8: what a process wrote goes into JSON and onto the
// screen.
std::string valid_utf8(std::string_view text);

}  // namespace jointer
