#pragma once

// Escapes text for the cells of CSV and Markdown tables.

#include <string>
#include <string_view>

namespace jointer {

// As in RFC 4180: quoted if the text contains a separator, a quote or a line break.
std::string csv_cell(std::string_view text);

// Escapes everything that Markdown would interpret: |, line breaks, emphasis, links, code.
std::string markdown_cell(std::string_view text);

}  // namespace jointer
