#pragma once

// Tells native captures from other JSON files by their first bytes.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jointer {

enum class NativeStart : std::uint8_t {
  other,      // not a capture: a recipe, a command's result, another program's JSON
  one_graph,  // a capture of one graph or pair
  unknown,    // a capture; the number of graphs is not known yet
};

constexpr std::size_t kNativeStart = 4096;  // bytes; enough to find the kind of most captures

// `bytes` is the start of a file, for which is_native_capture must hold. Jointer writes `format`
// and `kind` first; if `kind` comes later or after a nested object, the result is `unknown`.
NativeStart look_at_native_start(std::string_view bytes);

}  // namespace jointer
