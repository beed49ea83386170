#pragma once

// Arithmetic on numbers that come from files: a result that does not fit in 64 bits is reported or
// saturated; the behavior is never undefined.

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

namespace jointer {

inline std::optional<std::int64_t> checked_add(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}

inline std::optional<std::int64_t> checked_sub(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_sub_overflow(a, b, &result)) return std::nullopt;
  return result;
}

inline std::optional<std::int64_t> checked_mul(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// These functions saturate on overflow. They are for numbers, such as FLOPs, that overflow only for
// absurd shapes.
inline std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  return checked_add(a, b).value_or(b < 0 ? std::numeric_limits<std::int64_t>::min()
                                          : std::numeric_limits<std::int64_t>::max());
}

inline std::int64_t saturating_mul(std::int64_t a, std::int64_t b) {
  return checked_mul(a, b).value_or((a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min()
                                                       : std::numeric_limits<std::int64_t>::max());
}

// The integer part of a number, clamped to the 64-bit range; 0 for NaN.
inline std::int64_t saturating_whole(double number) {
  using Limits = std::numeric_limits<std::int64_t>;
  constexpr double kBeyond = 9223372036854775808.0;  // 2^63, one more than the largest value
  if (std::isnan(number)) return 0;
  if (number >= kBeyond) return Limits::max();
  if (number < -kBeyond) return Limits::min();
  return static_cast<std::int64_t>(number);
}

inline std::int64_t saturating_round(double number) {
  return saturating_whole(std::round(number));
}

}  // namespace jointer
