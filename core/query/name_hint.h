#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace jointer {

// If SQLite's message about a query says that a table, a column or a function is unknown, a text to
// append to it: the most similar name of the kind ("; did you mean nodes?") and, for a table, the
// list of tables. Empty for other messages, and for a column or function to which no name is
// similar. Columns are those of the tables that the query names or, if it names none, of all
// tables.
std::string name_hint(std::string_view message, std::string_view sql,
                      const std::vector<std::string>& functions);

}  // namespace jointer
