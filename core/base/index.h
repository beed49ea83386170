#pragma once

#include <cstddef>
#include <cstdint>

namespace jointer {

// The index of an element, from an integer that is not negative.
constexpr std::size_t as_index(std::int64_t integer) {
  return static_cast<std::size_t>(integer);
}

}  // namespace jointer
