#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace jointer {

// A value in a row: NULL, an integer, a real number, or a text. A BLOB becomes its bytes in
// hexadecimal digits.
using QueryValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;  // as many values as columns
  bool is_cut = false;                        // there are more rows than the limit
};

}  // namespace jointer
