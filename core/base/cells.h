#pragma once

// Escapes text for cells of CSV and Markdown tables.

#include <string>
#include <string_view>

namespace jointer {

// Follows RFC 4180: quotes the text if it contains a separator, a quote or a line break.
std::string csv_cell(std::string_view text);

// Escapes everything that Markdown would interpret: |, line breaks, emphasis, links and code.
std::string markdown_cell(std::string_view text);

}  // namespace jointer
