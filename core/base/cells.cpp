#include "core/base/cells.h"

namespace jointer {

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string markdown_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      cell += ' ';
      continue;
    }
    if (std::string_view("|\\`*_[]<>").find(c) != std::string_view::npos) cell += '\\';
    cell += c;
  }
  return cell;
}

}  // namespace jointer
