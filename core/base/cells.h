#pragma once

// Escapes text for cells of CSV and Markdown tables.

#include <string>
#include <string_view>

namespace jointer {

// Follows RFC 4180: quotes the text if it contains a comma, a quote or a line break.
std::string csv_cell(std::string_view text);

// Escapes `\`, `|`, emphasis, links, HTML and code, and replaces line breaks with spaces.
std::string markdown_cell(std::string_view text);

}  // namespace jointer
