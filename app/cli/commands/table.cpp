#include "app/cli/commands/table.h"

#include <fmt/core.h>

#include <algorithm>

namespace jointer::cli {
namespace {

// The width of UTF-8 text: the number of bytes that are not continuation bytes.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string Table::text() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  bool has_titles = false;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    widths[c] = width_of(columns_[c].title);
    has_titles = has_titles || widths[c] > 0;
    for (const auto& row : rows_) widths[c] = std::max(widths[c], width_of(row[c]));
  }
  std::string out;
  const auto line = [&](const auto& cell) {
    std::string text = "  ";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string& content = cell(c);
      const std::string padding(widths[c] - width_of(content), ' ');
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
