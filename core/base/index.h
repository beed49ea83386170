#pragma once

#include <cstddef>
#include <cstdint>

namespace jointer {

// Converts a non-negative integer to an index.
constexpr std::size_t as_index(std::int64_t integer) {
  return static_cast<std::size_t>(integer);
}

}  // namespace jointer
