#include "core/query/query_schema.h"

#include <fmt/format.h>

#include "core/query/graph_tables.h"

namespace jointer {

const std::vector<QueryTable>& query_schema() {
  static const std::vector<QueryTable> tables = [] {
    std::vector<QueryTable> list;
    for (const TableWriter& writer : table_writers()) list.push_back(writer.table);
    return list;
  }();
  return tables;
}

std::string create_statement(const QueryTable& table) {
  std::string columns;
  for (const QueryColumn& column : table.columns)
    fmt::format_to(std::back_inserter(columns), "{}{} {}", columns.empty() ? "" : ", ", column.name,
                   column.type);
  return fmt::format("CREATE TABLE {}({})", table.name, columns);
}

const std::vector<QueryExample>& query_examples() {
  static const std::vector<QueryExample> examples{
      {"Largest storages at the peak",
       "SELECT node_id, node, category, bytes, module\n"
       "FROM storages\n"
       "WHERE is_live_at_peak\n"
       "ORDER BY bytes DESC\n"
       "LIMIT 50"},
      {"Exposed time by process group",
       "SELECT group_name, count(*) AS collectives, sum(ns) AS ns, sum(exposed_ns) AS exposed_ns\n"
       "FROM collectives\n"
       "WHERE NOT is_copy\n"
       "GROUP BY group_name\n"
       "ORDER BY exposed_ns DESC"},
      {"Time by module and operator",
       "SELECT module, operator, count(*) AS calls, sum(ns) AS ns, sum(flops) AS flops\n"
       "FROM nodes\n"
       "WHERE kind = 'call'\n"
       "GROUP BY module, operator\n"
       "ORDER BY ns DESC"},
      {"Exposed collectives, with reasons",
       "SELECT node_id, node, group_name, bytes, ns, exposed_ns, reason\n"
       "FROM collectives\n"
       "WHERE exposed_ns > 0\n"
       "ORDER BY exposed_ns DESC"},
      {"Memory by category at the peak",
       "SELECT category, count(*) AS storages, sum(bytes) AS bytes\n"
       "FROM storages\n"
       "WHERE is_live_at_peak\n"
       "GROUP BY category\n"
       "ORDER BY bytes DESC"},
      {"Allocations in the first millisecond",
       "SELECT ns, storages.node_id, node, storages.bytes, category, live_bytes\n"
       "FROM events JOIN storages USING (storage_id)\n"
       "WHERE action = 'allocate' AND ns BETWEEN 1 AND 1000000\n"
       "ORDER BY event_id"},
      {"Nodes with the most readers",
       "SELECT node_id, node, operator, users, output_bytes\n"
       "FROM nodes\n"
       "ORDER BY users DESC\n"
       "LIMIT 50"},
      {"Tables and their columns",
       "SELECT m.name AS \"table\", c.name AS \"column\", c.type\n"
       "FROM sqlite_schema AS m, pragma_table_info(m.name) AS c\n"
       "WHERE m.type = 'table'"},
  };
  return examples;
}

}  // namespace jointer
