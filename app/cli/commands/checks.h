#pragma once

// Checks of what options are given. Each says what was expected and what was got; the name of the
// option is put before it by usage_message.h.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace jointer::cli {

inline constexpr std::int64_t kNoMost = std::numeric_limits<std::int64_t>::max();

// A whole number, both bounds included.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = kNoMost);

// A number of at least 0; or above 0.
CLI::Validator non_negative_number();
CLI::Validator positive_number();

CLI::Validator one_of(const std::vector<std::string>& choices);

}  // namespace jointer::cli
