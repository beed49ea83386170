#pragma once

#include <array>

#include "core/query/graph_tables.h"

namespace jointer {

// A column of a table in which each row represents a `Row`, and the function that writes its value.
template <class Row>
struct TableColumn {
  QueryColumn column;
  void (*write)(const TableSource& source, const Row& row, RowWriter& writer);
};

template <class Row, std::size_t count>
std::vector<QueryColumn> columns_of(const std::array<TableColumn<Row>, count>& columns) {
  std::vector<QueryColumn> list;
  list.reserve(count);
  for (const TableColumn<Row>& each : columns) list.push_back(each.column);
  return list;
}

template <class Row, std::size_t count>
void write_row(const std::array<TableColumn<Row>, count>& columns, const TableSource& source,
               const Row& row, RowWriter& writer) {
  for (const TableColumn<Row>& each : columns) each.write(source, row, writer);
}

}  // namespace jointer
