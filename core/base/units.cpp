#include "core/base/units.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/base/byte_units.h"
#include "core/base/distinct_bytes.h"
#include "core/base/number_text.h"

namespace jointer {
namespace {

constexpr std::array<std::string_view, 6> kByteUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

struct Scaled {
  double number = 0;
  std::size_t unit = 0;
};

// The number in the largest of `count` units in which it is at least 1 after rounding to three
// digits.
Scaled scaled(double number, double base, std::size_t count) {
  Scaled result{.number = number};
  while (result.unit + 1 < count && std::fabs(result.number) >= base * 0.9995) {
    result.number /= base;
    ++result.unit;
  }
  return result;
}

template <std::size_t N>
std::string in_units(double number, double base, const std::array<std::string_view, N>& units) {
  const auto [value, unit] = scaled(number, base, N);
  return fmt::format("{} {}", format_significant(value), units[unit]);
}

bool is_in_bytes(std::int64_t bytes) {
  return bytes > -1024 && bytes < 1024;
}

}  // namespace

std::string format_count(std::int64_t count) {
  std::string digits = std::to_string(count);
  const std::size_t first = count < 0 ? 1 : 0;
  for (std::size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string format_significant(double number) {
  if (!std::isfinite(number)) return std::isnan(number) ? "-" : number > 0 ? "inf" : "-inf";
  const double size = std::fabs(number);
  if (size == 0) return "0";
  if (size >= 999.5) return format_count(std::llround(number));
  // The number of decimals that gives three significant digits.
  int decimals = 2 - static_cast<int>(std::floor(std::log10(size) + 1e-12));
  if (size * std::pow(10, decimals) >= 999.5) --decimals;
  return fmt::format("{:.{}f}", number, std::clamp(decimals, 0, 12));
}

std::string format_tick_bytes(std::int64_t bytes) {
  std::size_t unit = 0;
  while (unit + 1 < kByteUnits.size() && bytes >= 1024 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kByteUnits[unit]);
}

std::string format_bytes(std::int64_t bytes) {
  if (is_in_bytes(bytes)) return fmt::format("{} B", bytes);
  return in_units(static_cast<double>(bytes), 1024, kByteUnits);
}

std::string format_ns(std::int64_t nanoseconds) {
  return format_ms(to_ms(nanoseconds));
}

std::string format_ms(double milliseconds) {
  static constexpr std::array<std::string_view, 3> kUnits{"ns", "us", "ms"};
  // The shortest times, in milliseconds, that are shown in seconds: with three decimals, and with
  // three significant digits.
  constexpr double kSecond = 999.5, kLong = 999'999.5;
  const double size = std::fabs(milliseconds);
  if (size < 1e-9) return "0 ms";
  if (size >= kSecond && size < kLong) return fmt::format("{:.3f} s", milliseconds / 1000);
  if (size >= kLong) return format_significant(milliseconds / 1000) + " s";
  return in_units(milliseconds * 1e6, 1000, kUnits);
}

std::string format_flops(double flops) {
  static constexpr std::array<std::string_view, 6> kUnits{"FLOP",  "kFLOP", "MFLOP",
                                                          "GFLOP", "TFLOP", "PFLOP"};
  return in_units(flops, 1000, kUnits);
}

std::string format_rate(double flops_per_second) {
  static constexpr std::array<std::string_view, 6> kUnits{"FLOP/s",  "kFLOP/s", "MFLOP/s",
                                                          "GFLOP/s", "TFLOP/s", "PFLOP/s"};
  return in_units(flops_per_second, 1000, kUnits);
}

std::string format_percent(double fraction) {
  if (fraction > 0 && fraction < 0.001) return "< 0.1%";
  return fmt::format("{}%", format_significant(fraction * 100));
}

void format_distinct_bytes(std::span<const std::int64_t> numbers, std::span<std::string> texts) {
  const auto are_distinct = [&] {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (numbers[i] != numbers[j] && texts[i] == texts[j]) return false;
    return true;
  };
  std::ranges::transform(numbers, texts.begin(), format_bytes);
  constexpr int kMaxDecimals = 6;
  for (int decimals = 1; decimals <= kMaxDecimals && !are_distinct(); ++decimals)
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (is_in_bytes(numbers[i])) continue;
      const auto [value, unit] = scaled(static_cast<double>(numbers[i]), 1024, kByteUnits.size());
      texts[i] = fmt::format("{:.{}f} {}", value, decimals, kByteUnits[unit]);
    }
  if (!are_distinct())
    std::ranges::transform(numbers, texts.begin(),
                           [](std::int64_t bytes) { return format_count(bytes) + " B"; });
}

std::optional<std::int64_t> parse_byte_count(std::string_view text) {
  // A double would round large whole numbers.
  if (const auto bytes = number_of<std::int64_t>(text)) return bytes;
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc()) return std::nullopt;
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  for (const auto& [name, factor] : kBytesPerUnit) {
    if (name != unit) continue;
    const double bytes = number * factor;
    if (!std::isfinite(bytes) || std::abs(bytes) >= 9.2e18) return std::nullopt;
    return static_cast<std::int64_t>(std::llround(bytes));
  }
  return std::nullopt;
}

}  // namespace jointer
