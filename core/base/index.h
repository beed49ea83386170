#pragma once

#include <cstddef>
#include <cstdint>

namespace jointer {

// Converts an integer that is not negative to the index of an element.
constexpr std::size_t as_index(std::int64_t integer) {
  return static_cast<std::size_t>(integer);
}

}  // namespace jointer
