#pragma once

// Formats numbers of bytes that a message compares, so that different numbers never look the same.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace jointer {

// As format_bytes does, if different numbers get different texts. Otherwise with the fewest
// decimals, up to six, with which they do: "43.271 GiB" and "43.274 GiB"; and otherwise exactly:
// "46,493,450,240 B".
template <std::size_t N>
std::array<std::string, N> distinct_bytes(const std::array<std::int64_t, N>& numbers) {
  std::array<std::string, N> texts;
  const auto are_distinct = [&] {
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (numbers[i] != numbers[j] && texts[i] == texts[j]) return false;
    return true;
  };
  std::transform(numbers.begin(), numbers.end(), texts.begin(), format_bytes);
  constexpr int kMaxDecimals = 6;
  for (int decimals = 1; decimals <= kMaxDecimals && !are_distinct(); ++decimals)
    for (std::size_t i = 0; i < N; ++i) {
      const std::string usual = format_bytes(numbers[i]);
      const std::string_view unit = std::string_view(usual).substr(usual.find(' ') + 1);
      constexpr std::string_view kPowers = "BKMGTP";
      const auto power = static_cast<double>(kPowers.find(unit.front()));
      texts[i] = unit == "B" ? usual
                             : fmt::format("{:.{}f} {}",
                                           static_cast<double>(numbers[i]) / std::pow(1024, power),
                                           decimals, unit);
    }
  if (!are_distinct())
    std::transform(numbers.begin(), numbers.end(), texts.begin(),
                   [](std::int64_t bytes) { return format_count(bytes) + " B"; });
  return texts;
}

}  // namespace jointer
