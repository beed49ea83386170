#pragma once

// Float symbols (`zf16`), which captures use for scalar inputs of a graph. No size depends on them,
// so the graph stores them as they appear in the file: as a raw value or argument `{"symfloat":
// EXPRESSION, "hint": NUMBER}`.

#include <optional>
#include <string>

#include "core/graph/graph.h"

namespace jointer {

struct SymbolicFloat {
  std::string expression;
  std::optional<double> hint;  // its value when the graph was traced
};

// Reads a float symbol; nullopt for any other value or argument.
std::optional<SymbolicFloat> symbolic_float(const Graph& graph, const Value& value);
std::optional<SymbolicFloat> symbolic_float(const Graph& graph, const Argument& argument);

}  // namespace jointer
