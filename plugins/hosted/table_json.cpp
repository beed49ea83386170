#include "plugins/hosted/table_json.h"

#include <array>

namespace jointer {
namespace {

using Unit = PassTable::Unit;

// Names in the protocol. to_string() is for display and has no word for some units.
constexpr std::array<std::pair<Unit, std::string_view>, 5> kUnits{{{Unit::text, "text"},
                                                                   {Unit::count, "count"},
                                                                   {Unit::bytes, "bytes"},
                                                                   {Unit::nanoseconds, "ns"},
                                                                   {Unit::number, "number"}}};

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

// Throws OrderedJson::exception, as at() does.
PassTable::Cell read_cell(const OrderedJson& json) {
  if (json.is_null()) return {};
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

Unit read_unit(std::string_view text) {
  for (const auto& [unit, name] : kUnits)
    if (name == text) return unit;
  return Unit::text;  // a unit of a newer host
}

PassTable read(const OrderedJson& json) {
  PassTable table{.title = json.at("title").get<std::string>(), .columns = {}, .rows = {}};
  for (const OrderedJson& each : json.at("columns"))
    table.columns.push_back({.name = each.at("name").get<std::string>(),
                             .unit = read_unit(each.at("unit").get<std::string>())});
  for (const OrderedJson& each : json.at("rows")) {
    PassTable::Row row{.node = each.at("node").get<std::string>(), .cells = {}};
    for (const OrderedJson& cell : each.at("cells")) row.cells.push_back(read_cell(cell));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

OrderedJson to_json(const PassTable& table) {
  OrderedJson json{
      {"title", table.title}, {"columns", OrderedJson::array()}, {"rows", OrderedJson::array()}};
  for (const PassTable::Column& column : table.columns)
    for (const auto& [unit, name] : kUnits)
      if (unit == column.unit) json["columns"].push_back({{"name", column.name}, {"unit", name}});
  for (const PassTable::Row& row : table.rows) {
    OrderedJson cells = OrderedJson::array();
    for (const PassTable::Cell& cell : row.cells) cells.push_back(cell_json(cell));
    json["rows"].push_back({{"node", row.node}, {"cells", std::move(cells)}});
  }
  return json;
}

Result<PassTable> read_pass_table(const OrderedJson& json) {
  try {
    PassTable table = read(json);
    for (const PassTable::Row& row : table.rows)
      if (row.cells.size() != table.columns.size())
        return fail(Error::Kind::input, "a row has {} cells, but there are {} columns",
                    row.cells.size(), table.columns.size());
    return table;
  } catch (const OrderedJson::exception&) {
    return fail(Error::Kind::input, "not a table");
  }
}

}  // namespace jointer
