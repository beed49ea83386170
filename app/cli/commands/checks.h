#pragma once

// Checks of option values. A message says what was expected and what was given; usage_message.h
// puts the option's name before it.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace jointer::cli {

inline constexpr std::int64_t kNoMost = std::numeric_limits<std::int64_t>::max();

// An integer from `least` to `most`, both included.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = kNoMost);

// A number of at least 0; a number above 0.
CLI::Validator non_negative_number();
CLI::Validator positive_number();

// Limits the values of `option` to `choices`, and shows these in the help. Returns `option`.
CLI::Option* set_choices(CLI::Option* option, const std::vector<std::string>& choices);

}  // namespace jointer::cli
