#pragma once

// The listing form of a graph: `print(gm.graph)`. Private to core/capture/fx_*.cpp.

#include "core/capture/fx_statements.h"

namespace jointer::fx {

// The statements of a listing as Python code would have them. A listing prints texts without
// quotes; what is a text and what a number, a device or a size follows from the operator's schema.
// Throws TextMistake; `number` is then the line it is about.
Body take_listing_apart(const GraphText& graph, std::size_t& number);

}  // namespace jointer::fx
