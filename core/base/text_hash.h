#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace jointer {

// With std::equal_to<>, enables lookups by string_view in an unordered map with string keys.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept {
    return std::hash<std::string_view>{}(text);
  }
};

}  // namespace jointer
