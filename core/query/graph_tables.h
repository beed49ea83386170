#pragma once

#include <functional>
#include <optional>

#include "core/graph/users.h"
#include "core/query/query_schema.h"
#include "core/query/row_writer.h"
#include "core/schedule/analysis.h"

namespace jointer {

// The graph from which the tables are filled, and data that several columns need.
struct TableSource {
  TableSource(const Graph& graph, const Analysis& analysis);

  const Graph& graph;
  const Analysis& analysis;
  Users users;
  std::vector<std::int64_t> memory_times;  // by point of the memory profile

  // The collective or copy that the node starts; null for other nodes and for waits.
  [[nodiscard]] const CollectiveTiming* started_by(NodeId node) const;
  // The path of the node's module.
  [[nodiscard]] std::string_view module(NodeId node) const;
  [[nodiscard]] std::string_view phase(const Node& node) const {
    return node.phase == Phase::forward ? "forward" : "backward";
  }
};

// A table and the function that writes its rows. `fill` binds all columns of a row and then calls
// `row`; it stops if `row` returns false.
struct TableWriter {
  using Row = std::function<bool()>;
  QueryTable table;
  void (*fill)(const TableSource& source, RowWriter& writer, const Row& row);
};

// All tables, in the order of the documentation.
const std::vector<TableWriter>& table_writers();

TableWriter step_table();
TableWriter node_table();
TableWriter input_table();
TableWriter storage_table();
TableWriter event_table();
TableWriter collective_table();

}  // namespace jointer
