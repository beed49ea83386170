#pragma once

// A table that a pass reports along with its decisions, with one row per item that it examined.
// Users can sort it, and programs can read it.

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace jointer {

struct PassTable {
  enum class Unit : std::uint8_t {
    text,
    count,
    bytes,
    nanoseconds,
    number,  // without a unit
  };
  struct Column {
    std::string name;  // "initial exposed"
    Unit unit = Unit::text;
    friend bool operator==(const Column&, const Column&) = default;
  };
  // Counts, bytes and nanoseconds are integers; an empty cell is monostate.
  using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
  struct Row {
    std::string node;  // name in edits; empty if the row is about the whole graph
    std::vector<Cell> cells;
    friend bool operator==(const Row&, const Row&) = default;
  };
  std::string title;
  std::vector<Column> columns;  // of `cells`
  std::vector<Row> rows;
  friend bool operator==(const PassTable&, const PassTable&) = default;
};
std::string_view to_string(PassTable::Unit unit);  // "", "", "B", "ns", ""

// The cell formatted for display: 1.21 GiB, 3.40 ms; empty for an empty cell.
std::string cell_text(const PassTable::Cell& cell, PassTable::Unit unit);

}  // namespace jointer
