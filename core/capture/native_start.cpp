#include "core/capture/native_start.h"

#include <algorithm>
#include <array>

namespace jointer {

NativeStart look_at_native_start(std::string_view bytes) {
  constexpr std::string_view kKey = "\"kind\"";
  constexpr std::array<std::string_view, 5> kSingle{"\"joint\"", "\"forward\"", "\"backward\"",
                                                    "\"train_step\"", "\"pair\""};
  if (bytes.find("\"jointer-capture\"") == std::string_view::npos) return NativeStart::other;
  const std::size_t key = bytes.find(kKey);
  if (key == std::string_view::npos) return NativeStart::unknown;
  // A brace inside a string counts, too. The result is then `unknown`, which is always correct.
  const bool is_top_level = std::ranges::count(bytes.substr(0, key), '{') == 1;
  if (!is_top_level) return NativeStart::unknown;
  const std::size_t value = bytes.find_first_not_of(" \t\r\n:", key + kKey.size());
  if (value == std::string_view::npos) return NativeStart::unknown;
  const std::string_view kind = bytes.substr(value);
  const bool is_single =
      std::ranges::any_of(kSingle, [&](std::string_view each) { return kind.starts_with(each); });
  return is_single ? NativeStart::one_graph : NativeStart::unknown;
}

}  // namespace jointer
