#pragma once

// Numbers that a part's constants hold of its tables: constants stay JSON (Part::constants), and a
// tensor among them, or a node of a constant that is a graph, names its storage, module stack and
// stack trace by number. Numbers count from the part's first entry of the table.

#include <array>
#include <cstdint>
#include <functional>

#include "core/base/json_text.h"
#include "core/graph/graph.h"

namespace jointer {

enum class ConstantTable : std::uint8_t { storages, modules, stacks };

// Something of each table.
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

// The id of the part's first entry, of which the number is 0; where it has none, that of the next
// one that is added. Cost: linear in the parts before.
PerTable<std::size_t> first_entries(const Graph& graph, PartId part);

// Calls `visit` with each such number, which it may change. Cost: linear in the JSON.
void visit_table_numbers(OrderedJson& constants,
                         const std::function<void(ConstantTable, OrderedJson& number)>& visit);

}  // namespace jointer
