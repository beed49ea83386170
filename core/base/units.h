#pragma once

// Formats numbers for the user. Most functions round to three significant digits; units of bytes
// are binary. Times from 1 to 1000 s are shown to the millisecond, because plans and schedules may
// differ by only a few milliseconds.

#include <concepts>
#include <cstdint>
#include <string>

namespace jointer {

std::string format_bytes(std::int64_t bytes);       // "43.3 GiB", "512 B"
std::string format_tick_bytes(std::int64_t bytes);  // "16 GiB", "1536 MiB": no decimals
std::string format_ms(double milliseconds);         // "612 ms", "1.003 s", "20.0 us"
std::string format_ns(std::int64_t nanoseconds);    // like format_ms
std::string format_count(std::int64_t count);       // "10,944"
std::string format_flops(double flops);             // "167 TFLOP"
std::string format_rate(double flops_per_second);   // "412 TFLOP/s"
std::string format_percent(double fraction);        // "41.2%", "< 0.1%"
// Three significant digits, or the nearest integer from 1,000 on, without an exponent and with at
// most 12 decimals: "0.0123", "1.23", "123", "12,345". NaN is "-".
std::string format_significant(double number);

std::string format_count(std::integral auto count) {
  return format_count(static_cast<std::int64_t>(count));
}

constexpr double to_ms(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1e6;
}

}  // namespace jointer
