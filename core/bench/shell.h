#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jointer {

// The word as it is written on a POSIX shell's command line: quoted if necessary.
std::string shell_word(std::string_view word);

// Words separated by spaces.
std::string shell_words(std::span<const std::string> words);

}  // namespace jointer
