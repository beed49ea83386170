#pragma once

// References from the constants of a part to the part's tables. Constants are stored as JSON
// (Part::constants). If a constant contains a tensor or is a graph with nodes, the tensor or node
// refers to its storage, module stack and stack trace by number. Number 0 is the part's first entry
// in the table.

#include <array>
#include <cstdint>
#include <functional>

#include "core/base/json_text.h"
#include "core/graph/graph.h"

namespace jointer {

enum class ConstantTable : std::uint8_t { storages, modules, stacks };

// One T per table.
template <class T>
using PerTable = std::array<T, 3>;
template <class T>
T& of_table(PerTable<T>& each, ConstantTable table) {
  return each[static_cast<std::size_t>(table)];
}
template <class T>
const T& of_table(const PerTable<T>& each, ConstantTable table) {
  return each[static_cast<std::size_t>(table)];
}

// Returns the id of the part's first entry in each table, or of the next entry to be added if the
// part has none. Cost: linear in the entries before that one.
PerTable<std::size_t> first_entries(const Graph& graph, PartId part);

// Calls `visit` with each number in `constants` that refers to a table; `visit` may change it.
// Cost: linear in the JSON.
void visit_table_numbers(OrderedJson& constants,
                         const std::function<void(ConstantTable, OrderedJson& number)>& visit);

}  // namespace jointer
