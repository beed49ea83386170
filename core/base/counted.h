#pragma once

// Formats a count with its noun: "1 call", "3 calls".

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace jointer {

// `several`: the plural; empty if it is `one` with an s.
inline std::string counted(std::size_t count, std::string_view one, std::string_view several = {}) {
  if (count == 1) return fmt::format("1 {}", one);
  return several.empty() ? fmt::format("{} {}s", count, one) : fmt::format("{} {}", count, several);
}

}  // namespace jointer
