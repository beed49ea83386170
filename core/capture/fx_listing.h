#pragma once

// Reads the listing of a graph, as printed by `print(gm.graph)`. Private to core/capture/fx_*.cpp.

#include "core/capture/fx_statements.h"

namespace jointer::fx {

// Converts a listing to the statements of the equivalent Python code. A listing prints strings
// without quotes, so the operator's schema is needed to tell strings from numbers, devices and
// sizes. Throws TextMistake; `number` is then the line of the mistake.
Body parse_listing(const GraphText& graph, std::size_t& number);

}  // namespace jointer::fx
