#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jointer {

// A word of a POSIX shell's command line: quoted where it must be.
std::string shell_word(std::string_view word);

// Words with a space between them.
std::string shell_words(std::span<const std::string> words);

}  // namespace jointer
