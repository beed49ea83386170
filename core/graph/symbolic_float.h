#pragma once

// Symbols that stand for floats, as captures have them for a scalar that a graph is given (`zf16`).
// No size depends on them, so that the graph keeps them as the capture writes them: as a raw value
// or argument `{"symfloat": EXPRESSION, "hint": NUMBER}`.

#include <optional>
#include <string>

#include "core/graph/graph.h"

namespace jointer {

struct SymbolicFloat {
  std::string expression;
  std::optional<double> hint;  // what it was when the graph was traced
};

// Nothing where the value or the argument is something else.
std::optional<SymbolicFloat> symbolic_float(const Graph& graph, const Value& value);
std::optional<SymbolicFloat> symbolic_float(const Graph& graph, const Argument& argument);

}  // namespace jointer
