#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace jointer {

inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;
inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// The units in which users write bytes, and their sizes. A number without a unit is in bytes.
inline constexpr std::array<std::pair<std::string_view, double>, 10> kBytesPerUnit{
    {{"", 1},
     {"B", 1},
     {"KB", 1e3},
     {"KiB", 1024.0},
     {"MB", 1e6},
     {"MiB", 1048576.0},
     {"GB", 1e9},
     {"GiB", 1073741824.0},
     {"TB", 1e12},
     {"TiB", 1099511627776.0}}};

// Parses a number of bytes such as "5GiB", "500MB", "1024"; nullopt if the text is not a number of
// bytes.
std::optional<std::int64_t> parse_byte_count(std::string_view text);

// True if the text is a number without a unit that is unlikely to mean bytes: one below 1 MiB, such
// as 40, or a fraction. 0 needs no unit.
inline bool lacks_unit(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number == 0) return false;
  return std::abs(number) < kMiB || number != std::floor(number);
}

}  // namespace jointer
