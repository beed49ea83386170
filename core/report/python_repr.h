#pragma once

// Formats arguments, types and calls as the FX code generator does.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace jointer {

class PythonRepr {
 public:
  explicit PythonRepr(const Graph& graph) : graph_(graph) {}

  [[nodiscard]] std::string argument(const Argument& argument) const;
  // `f32[8, 4][4, 1]cuda:0` or `Sym(u0)`; empty for values that print_readable prints without a
  // type.
  [[nodiscard]] std::string type(const Value& value) const;
  // `NAME = torch.ops.aten.mm.default(a, b)`, or an infix operator, a subscript or a method call if
  // FX writes calls of this target in that form. `name` may include a type.
  [[nodiscard]] std::string call(const Node& node, std::string_view name) const;

 private:
  [[nodiscard]] std::string arguments(const Node& node, std::size_t skip) const;
  [[nodiscard]] std::string children(const Argument& argument) const;

  const Graph& graph_;
};

// An expression such as `base.layers.weight`; uses getattr for segments that are not identifiers.
std::string attribute_path(std::string_view base, std::string_view path);

// A JSON value as Python prints it; an object with a `type` is printed like a dataclass. Empty if
// the text is not JSON.
std::string json_repr(const nlohmann::ordered_json& json);
std::string json_repr(std::string_view text);

}  // namespace jointer
