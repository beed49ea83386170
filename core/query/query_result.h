#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace jointer {

// A value in a row: NULL, an integer, a real number or text. A BLOB is represented by the
// hexadecimal digits of its bytes.
using QueryValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;  // each with one value per column
  bool is_cut = false;                        // there are more rows than the limit
};

}  // namespace jointer
