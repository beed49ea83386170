#pragma once

// Texts as cells of tables that other programs read.

#include <string>
#include <string_view>

namespace jointer {

// RFC 4180: quoted where the text holds a separator, a quote or a line end.
std::string csv_cell(std::string_view text);

// What Markdown would take for its own (|, line ends, emphasis, links, code) stands for itself.
std::string markdown_cell(std::string_view text);

}  // namespace jointer
