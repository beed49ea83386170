#pragma once

#include <string>
#include <string_view>

namespace jointer {

// The SHA-256 of the text as 64 lowercase hexadecimal digits.
std::string sha256(std::string_view text);

}  // namespace jointer
