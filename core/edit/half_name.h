#pragma once

// Names and selectors of nodes in edits of a pair: `backward:mm_12`, `forward:layers.*::aten.mm`.

#include <string_view>

namespace jointer {

inline constexpr std::string_view kForward = "forward:", kBackward = "backward:";

struct HalfName {
  std::string_view prefix;  // kForward, kBackward or empty
  std::string_view name;    // without the prefix
};
// `forward::aten.mm` has no prefix: it selects nodes of a module named `forward`.
inline HalfName split_half(std::string_view name) {
  for (const std::string_view prefix : {kForward, kBackward})
    if (name.starts_with(prefix) && !name.substr(prefix.size()).starts_with(':'))
      return {prefix, name.substr(prefix.size())};
  return {{}, name};
}

}  // namespace jointer
