#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace jointer::cli {

// A table as text. Columns are as wide as their content.
class Table {
 public:
  enum class Align : unsigned char { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  // `row`: a cell for each column.
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // Lines end in a newline. If no column has a title, there is no header.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// A heading above a table.
std::string heading(const std::string& text);

// Prints how many of `count` rows a table of at most `top` rows leaves out; prints nothing if it
// has all rows.
void print_rest(std::size_t count, std::size_t top);

}  // namespace jointer::cli
