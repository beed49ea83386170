#pragma once

// Describes the tables that a query can read (docs/query.md).

#include <string>
#include <string_view>
#include <vector>

namespace jointer {

struct QueryColumn {
  std::string_view name;
  std::string_view type;  // as SQLite declares it: "INTEGER", "TEXT", "INTEGER PRIMARY KEY"
  std::string_view meaning;
};

struct QueryTable {
  std::string_view name;
  std::string_view meaning;
  std::vector<QueryColumn> columns;
};

const std::vector<QueryTable>& query_schema();
// The statement that creates a table.
std::string create_statement(const QueryTable& table);

struct QueryExample {
  std::string_view title;
  std::string_view sql;
};

// Queries that work for any graph.
const std::vector<QueryExample>& query_examples();

}  // namespace jointer
