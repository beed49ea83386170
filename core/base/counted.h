#pragma once

// Formats a count with its noun, such as "1 call" or "3,000 calls".

#include <fmt/core.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/units.h"

namespace jointer {

// `several` is the plural; if empty, an "s" is appended to `one`.
inline std::string counted(std::size_t count, std::string_view one, std::string_view several = {}) {
  if (count == 1) return fmt::format("1 {}", one);
  const std::string number = format_count(count);
  return several.empty() ? fmt::format("{} {}s", number, one)
                         : fmt::format("{} {}", number, several);
}

}  // namespace jointer
