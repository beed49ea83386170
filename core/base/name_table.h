#pragma once

// Tables of names and their values.

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

namespace jointer {

template <class Value, std::size_t N>
using NameTable = std::array<std::pair<std::string_view, Value>, N>;

// The value of the first entry with this name; nullopt if there is none.
template <class Value, std::size_t N>
constexpr std::optional<Value> value_in(const NameTable<Value, N>& table, std::string_view name) {
  for (const auto& [known, value] : table)
    if (known == name) return value;
  return std::nullopt;
}

// The name of the first entry with this value; empty if there is none.
template <class Value, std::size_t N>
constexpr std::string_view name_in(const NameTable<Value, N>& table, const Value& value) {
  for (const auto& [name, known] : table)
    if (known == value) return name;
  return {};
}

}  // namespace jointer
