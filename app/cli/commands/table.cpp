#include "app/cli/commands/table.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/utf8.h"

namespace jointer::cli {

std::string Table::text() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  bool has_titles = false;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths[c] = character_count(columns_[c].title);
    has_titles = has_titles || widths[c] > 0;
    for (const auto& row : rows_) widths[c] = std::max(widths[c], character_count(row[c]));
  }
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text = "  ";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& content = cell(c);
      const std::string padding(widths[c] - character_count(content), ' ');
      if (c > 0) text += "  ";
      text += columns_[c].align == Align::right ? padding + content : content + padding;
    }
    while (text.ends_with(' ')) text.pop_back();
    out += text + "\n";
  };
  if (has_titles) line([&](std::size_t c) -> const std::string& { return columns_[c].title; });
  for (const auto& row : rows_) line([&](std::size_t c) -> const std::string& { return row[c]; });
  return out;
}

std::string heading(const std::string& text) {
  return "\n" + text + "\n";
}

void print_rest(std::size_t count, std::size_t top) {
  if (count > top) fmt::print("  and {} more; --top {} shows them\n", count - top, count);
}

}  // namespace jointer::cli
