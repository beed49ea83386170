#pragma once

// Checks of option values. A message says what was expected and what was given. usage_message.h
// prepends the name of the option to the messages of validators; bytes_of_option includes it.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace jointer::cli {

inline constexpr std::int64_t kNoMax = std::numeric_limits<std::int64_t>::max();

// An integer from `min` to `max`, inclusive.
CLI::Validator whole_number(std::int64_t min, std::int64_t max = kNoMax);

// A finite number of at least 0.
CLI::Validator non_negative_number();
// A finite number above 0.
CLI::Validator positive_number();

// Appends a unit to a number without one, such that the result is a common size of GPU memory:
// "40GiB", "40000MiB".
std::string with_likely_unit(std::string_view number);

// Parses the value of `option`, such as "5GiB"; blanks are allowed. `expected` describes the value
// in a message: "a size such as 5GiB". Error (usage): it is not a number of at least `min` bytes,
// or it lacks a unit (core/base/byte_units.h).
Result<std::int64_t> bytes_of_option(std::string_view option, std::string_view value,
                                     std::string_view expected, std::int64_t min = 0);

// Limits the values of `option` to `choices` and lists them in the help. Returns `option`.
CLI::Option* set_choices(CLI::Option* option, const std::vector<std::string>& choices);

}  // namespace jointer::cli
