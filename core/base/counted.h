#pragma once

// Formats a count with its noun: "1 call", "3,000 calls".

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace jointer {

// `several`: the plural; empty if it is `one` plus an s.
inline std::string counted(std::size_t count, std::string_view one, std::string_view several = {}) {
  if (count == 1) return fmt::format("1 {}", one);
  const std::string number = format_count(static_cast<std::int64_t>(count));
  return several.empty() ? fmt::format("{} {}s", number, one)
                         : fmt::format("{} {}", number, several);
}

}  // namespace jointer
