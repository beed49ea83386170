#pragma once

// The major and minor version of torch, such as "2.15" in "2.15.0+cu132".

#include <compare>
#include <optional>
#include <string_view>

namespace jointer {

struct TorchVersion {
  int major = 0, minor = 0;
  friend auto operator<=>(const TorchVersion&, const TorchVersion&) = default;
};

inline constexpr TorchVersion kNewestTorch{2, 15};

// Parses "2.13.0+cu130" or "2.11". Returns std::nullopt unless the text starts with two numbers
// that are separated by a dot.
std::optional<TorchVersion> parse_torch_version(std::string_view text);

}  // namespace jointer
