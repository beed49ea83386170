#pragma once

// Formats numbers of bytes that a message compares, so that different numbers never look the same.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace jointer {

// Formats as format_bytes does if that gives different numbers different texts; otherwise with the
// fewest decimals, at most six, that do so: "43.271 GiB" and "43.274 GiB". If six are too few,
// gives exact numbers: "46,493,450,240 B". `texts` has as many elements as `numbers`.
void format_distinct_bytes(std::span<const std::int64_t> numbers, std::span<std::string> texts);

template <std::size_t N>
std::array<std::string, N> distinct_bytes(const std::array<std::int64_t, N>& numbers) {
  std::array<std::string, N> texts;
  format_distinct_bytes(numbers, texts);
  return texts;
}

}  // namespace jointer
