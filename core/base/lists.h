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
  // `visit` is called twice with a function add(key, value) and must emit the same pairs in the
  // same order each time. The values of a key keep that order. All keys must be less than `keys`.
  template <class Visit>
  static Lists of_each(std::size_t keys, Visit visit) {
    Lists lists;
    lists.first.assign(keys + 1, 0);
    visit([&](std::size_t key, const T&) { ++lists.first[key + 1]; });
    for (std::size_t i = 0; i < keys; ++i) lists.first[i + 1] += lists.first[i];
    lists.all.resize(lists.first.back());
    std::vector<std::uint32_t> next(lists.first.begin(), lists.first.end() - 1);
    visit([&](std::size_t key, const T& value) { lists.all[next[key]++] = value; });
    return lists;
  }
  static Lists of_pairs(std::span<const std::pair<std::uint32_t, T>> pairs, std::size_t keys) {
    return of_each(keys, [&](auto add) {
      for (const auto& [key, value] : pairs) add(key, value);
    });
  }
};

}  // namespace jointer
