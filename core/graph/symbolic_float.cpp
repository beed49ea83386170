#include "core/graph/symbolic_float.h"

#include <nlohmann/json.hpp>

namespace jointer {
namespace {

using Json = nlohmann::json;

std::optional<SymbolicFloat> read(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto expression = json.find("symfloat");
  if (expression == json.end() || !expression->is_string()) return std::nullopt;
  SymbolicFloat symbolic{.expression = expression->get<std::string>(), .hint = std::nullopt};
  if (const auto hint = json.find("hint"); hint != json.end() && hint->is_number())
    symbolic.hint = hint->get<double>();
  return symbolic;
}

}  // namespace

std::optional<SymbolicFloat> symbolic_float(const Graph& graph, const Value& value) {
  if (value.kind != Value::Kind::raw) return std::nullopt;
  return read(graph.text(value.text()));
}

std::optional<SymbolicFloat> symbolic_float(const Graph& graph, const Argument& argument) {
  if (argument.kind != Argument::Kind::raw) return std::nullopt;
  return read(graph.text(argument.text()));
}

}  // namespace jointer
