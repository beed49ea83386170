#pragma once

#include <cstddef>
#include <cstdint>

namespace jointer::kernels {

// The position of an id in its table; the id must not be -1.
constexpr std::size_t slot(std::int32_t id) {
  return static_cast<std::size_t>(id);
}

}  // namespace jointer::kernels
