#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace jointer {

// A list of values for each of many keys, stored contiguously.
template <class T>
struct Lists {
  std::vector<std::uint32_t> first;  // indexed by key, with one extra entry for the end
  std::vector<T> all;

  [[nodiscard]] std::span<const T> of(std::size_t key) const {
    return std::span(all).subspan(first[key], first[key + 1] - first[key]);
  }
  // The values of a key are in the order of the pairs. All keys must be less than `keys`.
  static Lists of_pairs(std::span<const std::pair<std::uint32_t, T>> pairs, std::size_t keys) {
    Lists lists;
    lists.first.assign(keys + 1, 0);
    for (const auto& [key, value] : pairs) ++lists.first[key + 1];
    for (std::size_t i = 0; i < keys; ++i) lists.first[i + 1] += lists.first[i];
    lists.all.resize(pairs.size());
    std::vector<std::uint32_t> next(lists.first.begin(), lists.first.end() - 1);
    for (const auto& [key, value] : pairs) lists.all[next[key]++] = value;
    return lists;
  }
};

}  // namespace jointer
