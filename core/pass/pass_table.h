#pragma once

// A table that a pass reports beside its decisions: the same figures of each thing that it looked
// at, for people to sort and for programs to read.

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
  // Whole numbers for counts, bytes and nanoseconds; none where a row has nothing to say.
  using Cell = std::variant<std::monostate, std::int64_t, double, std::string>;
  struct Row {
    std::string node;  // as edits name it; empty: of the whole graph
    std::vector<Cell> cells;
    friend bool operator==(const Row&, const Row&) = default;
  };
  std::string title;
  std::vector<Column> columns;  // those of `cells`
  std::vector<Row> rows;
  friend bool operator==(const PassTable&, const PassTable&) = default;
};
std::string_view to_string(PassTable::Unit unit);  // "", "", "B", "ns", ""

// A cell as a person reads it: 1.21 GiB, 3.40 ms; empty where there is nothing.
std::string cell_text(const PassTable::Cell& cell, PassTable::Unit unit);
// RFC 4180, plain numbers; the unit stands in the heading: "initial exposed (ns)".
std::string to_csv(const PassTable& table);

}  // namespace jointer
