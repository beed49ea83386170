#pragma once

#include <string>
#include <string_view>

namespace jointer {

// The SHA-256 of the text, in lower-case hexadecimal: 64 characters.
std::string sha256(std::string_view text);

}  // namespace jointer
