#pragma once

#include <algorithm>
#include <string_view>

namespace jointer {

template <class Names>
constexpr bool is_one_of(std::string_view name, const Names& names) {
  return std::ranges::find(names, name) != std::ranges::end(names);
}

}  // namespace jointer
