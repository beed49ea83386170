#include "plugins/hosted/table_json.h"

#include <array>
#include <optional>

#include "core/base/counted.h"
#include "core/base/json_fields.h"

namespace jointer {
namespace {

using Unit = PassTable::Unit;

// The names of units in the protocol. to_string() is for display and returns no name for some
// units.
constexpr std::array kUnits{Unit::text, Unit::count, Unit::bytes, Unit::nanoseconds, Unit::number};
std::string_view unit_name(Unit unit) {
  constexpr std::array<std::string_view, kUnits.size()> kNames{"text", "count", "bytes", "ns",
                                                               "number"};
  return kNames[static_cast<std::size_t>(unit)];
}

constexpr auto kTitle = std::tuple(json_field("title", &PassTable::title).required());
// Accepts unknown units, because the host may be newer.
constexpr auto kColumn = std::tuple(
    json_field("name", &PassTable::Column::name).required(),
    json_choice("unit", &PassTable::Column::unit, kUnits, &unit_name).required().lenient());
constexpr auto kRow = std::tuple(json_field("node", &PassTable::Row::node).required());

OrderedJson cell_json(const PassTable::Cell& cell) {
  return std::visit(
      [](const auto& held) -> OrderedJson {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
          return nullptr;
        else
          return held;
      },
      cell);
}

// Returns nullopt if the value is not null, a number or a string.
std::optional<PassTable::Cell> read_cell(const OrderedJson& json) {
  if (json.is_null()) return PassTable::Cell();
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json.is_string()) return json.get<std::string>();
  return std::nullopt;
}

void read_cells(JsonMembers& members, PassTable::Row& row) {
  if (members.find_set("cells") == nullptr) members.expect("cells", "a list");
  members.read_list("cells", [&](const OrderedJson& json, std::size_t /*at*/) {
    if (auto cell = read_cell(json))
      row.cells.push_back(*std::move(cell));
    else
      members.expect("cells", "numbers, strings and nulls");
  });
}

}  // namespace

OrderedJson to_json(const PassTable& table) {
  OrderedJson json;
  write_fields(json, table, kTitle);
  OrderedJson columns = OrderedJson::array(), rows = OrderedJson::array();
  for (const PassTable::Column& column : table.columns)
    write_fields(columns.emplace_back(), column, kColumn);
  for (const PassTable::Row& row : table.rows) {
    OrderedJson& written = rows.emplace_back();
    write_fields(written, row, kRow);
    OrderedJson cells = OrderedJson::array();
    for (const PassTable::Cell& cell : row.cells) cells.push_back(cell_json(cell));
    add_member(written, "cells", std::move(cells));
  }
  add_member(json, "columns", std::move(columns));
  add_member(json, "rows", std::move(rows));
  return json;
}

Result<PassTable> read_pass_table(const OrderedJson& json) {
  PassTable table;
  JsonMembers members(json);
  read_fields(members, table, kTitle);
  for (const char* key : {"columns", "rows"})
    if (members.find_set(key) == nullptr) members.expect(key, "a list");
  members.read_list("columns", [&](const OrderedJson& each, std::size_t i) {
    JsonMembers inner(each, fmt::format("column {}", i));
    read_fields(inner, table.columns.emplace_back(), kColumn);
    members.check(inner);
  });
  members.read_list("rows", [&](const OrderedJson& each, std::size_t i) {
    JsonMembers inner(each, fmt::format("row {}", i));
    PassTable::Row& row = table.rows.emplace_back();
    read_fields(inner, row, kRow);
    read_cells(inner, row);
    members.check(inner);
  });
  if (!members.problem().empty()) return input_error("not a table: {}", members.problem());
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    if (const std::size_t cells = table.rows[i].cells.size(); cells != table.columns.size())
      return input_error("row {} has {}, but the table has {}", i, counted(cells, "cell"),
                         counted(table.columns.size(), "column"));
  return table;
}

}  // namespace jointer
