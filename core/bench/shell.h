#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jointer {

// Returns the word as written on the command line of a POSIX shell, quoted if necessary.
std::string shell_word(std::string_view word);

// Returns the words, each quoted if necessary, separated by spaces.
std::string shell_words(std::span<const std::string> words);

}  // namespace jointer
